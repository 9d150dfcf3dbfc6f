// phone is true on a narrow screen, where rows are higher and panels cover the page.
import { signal } from "@preact/signals";

const narrow = matchMedia("(max-width: 720px)");
export const phone = signal(narrow.matches);
narrow.addEventListener("change", () => { phone.value = narrow.matches; });
