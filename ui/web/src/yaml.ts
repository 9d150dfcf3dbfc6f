// YAML as the API server reads it: of YAML 1.1, 0400 is octal, and a time is a text.
import * as yaml from "js-yaml";

const int = new yaml.Type("tag:yaml.org,2002:int", {
  kind: "scalar",
  resolve: (text: string | null) =>
    text !== null && /^[-+]?(0b[01]+|0x[0-9a-f]+|0o[0-7]+|0[0-7]*|[1-9][0-9]*)$/i.test(text),
  construct: (text: string) => {
    const digits = text.replace(/^[-+]/, "").replace(/^0(?=[0-7])/, "0o");
    return text.startsWith("-") ? -Number(digits) : Number(digits);
  },
  predicate: (value: unknown) => Number.isInteger(value) && !Object.is(value, -0),
  represent: String,
});

const noTimestamp = new yaml.Type("tag:yaml.org,2002:timestamp", { kind: "scalar", resolve: () => false });

const schema = yaml.DEFAULT_SCHEMA.extend({ implicit: [int, noTimestamp] });

export const load = (text: string): unknown => yaml.load(text, { schema });

export const dump = (value: unknown): string => yaml.dump(value, { schema, lineWidth: 120, noRefs: true });
