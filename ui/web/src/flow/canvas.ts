// Draws a flow on a canvas. A frame costs what is visible, never what exists: layers outside the view are skipped, of
// a layer only the visible part
// is looked at, nodes lose their details as they get small, and too many edges become bands between layers.
import {
  classes,
  finallyFlag,
  forEachFlag,
  whenFlag,
  missingFlag,
  Failed,
  Pending,
  Skipped,
  type FlowModel,
} from "./model.ts";
import { boxHeight, layoutOf, type Column, type Layout } from "./layout.ts";
import { count } from "../format.ts";

const headerHeight = 24;
const edgeBudget = 1500;
const minScale = 0.005,
  maxScale = 2.5;

interface Colors {
  text: string;
  dim: string;
  line: string;
  edge: string;
  panel: string;
  page: string;
  accent: string;
  fill: string[];
  soft: string[];
}

export interface GraphEvents {
  select(i: number): void;
  open(i: number): void;
  hover(i: number, x: number, y: number): void;
  toggle(layer: number): void;
  moved(view: GraphCanvas): void;
}

export class GraphCanvas {
  scale = 1;
  ox = 0;
  oy = 0;
  width = 1;
  height = 1;
  layout: Layout;
  selected = -1;
  match: Uint8Array | undefined;
  critical: Uint8Array | undefined;
  private hovered = -1;
  private readonly ctx: CanvasRenderingContext2D;
  private colors!: Colors;
  private frame = 0;
  private readonly labels: (string | undefined)[] = [];
  private readonly observer: ResizeObserver;
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private placed = false;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly model: FlowModel,
    collapsed: Uint8Array,
    private readonly on: GraphEvents,
  ) {
    this.ctx = canvas.getContext("2d", { alpha: false })!;
    this.layout = layoutOf(model, collapsed);
    this.readColors();
    this.dark.addEventListener("change", this.themed);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    canvas.addEventListener("pointerdown", this.down);
    canvas.addEventListener("pointermove", this.move);
    canvas.addEventListener("pointerup", this.up);
    canvas.addEventListener("pointercancel", this.up);
    canvas.addEventListener("pointerleave", this.leave);
    canvas.addEventListener("dblclick", this.double);
    canvas.addEventListener("wheel", this.wheel, { passive: false });
    this.resize();
  }

  close() {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.dark.removeEventListener("change", this.themed);
    const c = this.canvas;
    c.removeEventListener("pointerdown", this.down);
    c.removeEventListener("pointermove", this.move);
    c.removeEventListener("pointerup", this.up);
    c.removeEventListener("pointercancel", this.up);
    c.removeEventListener("pointerleave", this.leave);
    c.removeEventListener("dblclick", this.double);
    c.removeEventListener("wheel", this.wheel);
  }

  private readonly themed = () => {
    this.readColors();
    this.invalidate();
  };

  private readColors() {
    const style = getComputedStyle(document.documentElement);
    const v = (name: string) => style.getPropertyValue(name).trim();
    this.colors = {
      text: v("--text"),
      dim: v("--dim"),
      line: v("--line"),
      edge: v("--edge"),
      panel: v("--panel"),
      page: v("--page"),
      accent: v("--accent"),
      fill: classes.map((c) => v(`--${c}`)),
      soft: classes.map((c) => v(`--${c}-soft`)),
    };
  }

  private resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    if (!this.placed && box.width > 10) {
      this.placed = true;
      this.begin();
    }
    // Setting the size clears the canvas: it is drawn in the same frame, so that nothing flickers.
    this.draw();
  }

  // begin shows the whole flow if it is readable then; else the first layer in which something failed or runs.
  private begin() {
    this.fit();
    if (this.scale >= 0.4) return;
    const { counts, graph } = this.model;
    let layer = 0;
    for (let k = 0; k < graph.layers.length; k++) {
      if (counts[k * classes.length]! + counts[k * classes.length + 1]! > 0) {
        layer = k;
        break;
      }
    }
    this.scale = 0.8;
    this.showLayer(layer);
  }

  fit() {
    const b = this.layout.bounds;
    const room = this.height - headerHeight;
    this.scale = clamp(Math.min((this.width - 32) / b.width, (room - 32) / b.height, 1), minScale, maxScale);
    this.ox = (this.width - b.width * this.scale) / 2 - b.x * this.scale;
    this.oy = headerHeight + (room - b.height * this.scale) / 2 - b.y * this.scale;
    this.changed();
  }

  // showLayer puts a layer near the left edge, and its middle in the middle.
  showLayer(k: number, keepLeft = false) {
    const l = this.model.graph.layers[k];
    if (!l) return;
    const tall = (this.layout.bottom[k]! - this.layout.top[k]!) * this.scale > this.height - headerHeight;
    const middle = tall
      ? this.layout.top[k]! + (this.height / 2 - headerHeight - 12) / this.scale
      : (this.layout.top[k]! + this.layout.bottom[k]!) / 2;
    if (!keepLeft) this.ox = 48 - this.layout.left[k]! * this.scale;
    this.oy = headerHeight + (this.height - headerHeight) / 2 - middle * this.scale;
    this.changed();
  }

  showNode(i: number) {
    const { x, y, height } = this.layout;
    if (this.scale < 0.35) this.scale = 0.8;
    this.ox = this.width / 2 - (x[i]! + this.model.graph.nodeWidth / 2) * this.scale;
    this.oy = this.height / 2 - (y[i]! + height[i]! / 2) * this.scale;
    this.changed();
  }

  zoom(factor: number, px = this.width / 2, py = this.height / 2) {
    const scale = clamp(this.scale * factor, minScale, maxScale);
    this.ox = px - ((px - this.ox) * scale) / this.scale;
    this.oy = py - ((py - this.oy) * scale) / this.scale;
    this.scale = scale;
    this.changed();
  }

  pan(dx: number, dy: number) {
    this.ox += dx;
    this.oy += dy;
    this.changed();
  }

  collapse(collapsed: Uint8Array, keep = -1) {
    const at = keep >= 0 ? this.layout.y[keep]! : undefined;
    const first = this.layerAt(this.width / 2);
    const were = this.layout.collapsed;
    this.layout = layoutOf(this.model, collapsed);
    // Many layers at once move everything: what was in the middle stays in view.
    if (keep < 0 && first >= 0 && were[first] !== collapsed[first]) this.showLayer(first, true);
    if (at !== undefined) this.oy += (at - this.layout.y[keep]!) * this.scale;
    this.invalidate();
    this.on.moved(this);
  }

  private changed() {
    this.invalidate();
    this.on.moved(this);
  }

  invalidate() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw() {
    const { ctx, colors: c } = this;
    const ratio = devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = c.page;
    ctx.fillRect(0, 0, this.width, this.height);
    ctx.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.ox, ratio * this.oy);
    this.drawEdges();
    this.drawLayers();
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawHeaders();
  }

  private view() {
    return {
      left: -this.ox / this.scale,
      right: (this.width - this.ox) / this.scale,
      top: (headerHeight - this.oy) / this.scale,
      bottom: (this.height - this.oy) / this.scale,
    };
  }

  private drawEdges() {
    const { ctx, layout: l, colors: c } = this;
    const v = this.view();
    const e = l.edges;
    const visible: number[] = [];
    for (let k = 0; k < e.length; k += 4) {
      if (e[k + 2]! < v.left || e[k]! > v.right) continue;
      if ((e[k + 1]! < v.top && e[k + 3]! < v.top) || (e[k + 1]! > v.bottom && e[k + 3]! > v.bottom)) continue;
      visible.push(k);
      if (visible.length > edgeBudget) break;
    }
    if (visible.length > edgeBudget) this.drawBands(v);
    else {
      ctx.strokeStyle = c.edge;
      ctx.lineWidth = Math.max(1.2, 0.8 / this.scale);
      ctx.beginPath();
      const curved = visible.length <= 600 && this.scale > 0.2;
      for (const k of visible) this.edge(k, curved);
      ctx.stroke();
    }
    this.drawMarkedEdges(v);
  }

  private edge(k: number, curved: boolean) {
    const { ctx } = this;
    const e = this.layout.edges;
    const x1 = e[k]!,
      y1 = e[k + 1]!,
      x2 = e[k + 2]!,
      y2 = e[k + 3]!;
    ctx.moveTo(x1, y1);
    if (curved) {
      const bend = Math.max(16, Math.min(60, (x2 - x1) / 2));
      ctx.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    } else ctx.lineTo(x2, y2);
  }

  private drawBands(v: { left: number; right: number }) {
    const { ctx, colors: c } = this;
    const b = this.layout.bands;
    ctx.fillStyle = c.edge;
    let drawn = 0;
    for (let k = 0; k < b.length && drawn < edgeBudget; k += 7) {
      if (b[k + 3]! < v.left || b[k]! > v.right) continue;
      drawn++;
      ctx.globalAlpha = Math.min(0.5, 0.12 + Math.log10(b[k + 6]!) / 12);
      ctx.beginPath();
      ctx.moveTo(b[k]!, b[k + 1]!);
      ctx.lineTo(b[k + 3]!, b[k + 4]!);
      ctx.lineTo(b[k + 3]!, b[k + 5]!);
      ctx.lineTo(b[k]!, b[k + 2]!);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  // The edges of the selected and the hovered node, and those of the critical path.
  private drawMarkedEdges(v: { left: number; right: number }) {
    const { ctx, layout: l, colors: c } = this;
    const marked = [this.selected, this.hovered];
    const wanted = this.critical;
    if (marked.every((i) => i < 0) && !wanted) return;
    ctx.strokeStyle = c.accent;
    ctx.lineWidth = Math.max(1.8, 1.2 / this.scale);
    ctx.beginPath();
    for (let k = 0; k < l.edgeFrom.length; k++) {
      const a = l.edgeFrom[k]!,
        b = l.edgeTo[k]!;
      const mine = marked.includes(a) || marked.includes(b) || (wanted && wanted[a] && wanted[b]);
      if (mine && l.edges[4 * k + 2]! >= v.left && l.edges[4 * k]! <= v.right) this.edge(4 * k, true);
    }
    ctx.stroke();
  }

  private drawLayers() {
    const { layout: l } = this;
    const g = this.model.graph;
    const v = this.view();
    for (let k = 0; k < g.layers.length; k++) {
      if (l.collapsed[k] && l.left[k]! < v.right && l.left[k]! + l.span[k]! > v.left) this.drawBox(k);
    }
    for (const c of l.columns) {
      if (c.x < v.right && c.x + g.nodeWidth > v.left) this.drawNodes(c, v.top, v.bottom);
    }
  }

  // firstVisible finds the first node of a column below a height by halving: they are ordered from top to bottom.
  private firstVisible(c: Column, top: number): number {
    let low = c.first,
      high = c.first + c.count;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.layout.y[this.model.graph.order[mid]!]! + this.model.graph.nodeHeight < top) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  private drawNodes(c: Column, top: number, bottom: number) {
    const { graph: g, classes: cls } = this.model;
    const { y } = this.layout;
    const end = c.first + c.count;
    const first = this.firstVisible(c, top);
    if (g.nodeHeight * this.scale < 4) {
      this.drawRuns(c.x, first, end, bottom);
      return;
    }
    const small = g.nodeHeight * this.scale < 13;
    for (let o = first; o < end; o++) {
      const i = g.order[o]!;
      if (y[i]! > bottom) break;
      if (small) this.drawSmall(i, cls[i]!);
      else this.drawNode(i, cls[i]!);
    }
  }

  // drawRuns draws nodes that are lower than a few pixels: each row of pixels has the colour of the worst state in it,
  // and equal rows are one.
  private drawRuns(x: number, first: number, end: number, bottom: number) {
    const { ctx, colors: c } = this;
    const { graph: g, classes: cls } = this.model;
    const { y } = this.layout;
    const step = 3 / this.scale;
    let top = NaN,
      low = 0,
      worst = Pending,
      dim = true;
    const flush = () => {
      if (Number.isNaN(top)) return;
      ctx.globalAlpha = dim && this.match ? 0.15 : worst >= Skipped ? 0.45 : 1;
      ctx.fillStyle = c.fill[worst]!;
      ctx.fillRect(x, top, g.nodeWidth, low - top);
    };
    for (let o = first; o < end; o++) {
      const i = g.order[o]!;
      if (y[i]! > bottom) break;
      const w = cls[i]!;
      const hidden = this.match ? !this.match[i] : true;
      const near = y[i]! - low < step;
      if (!Number.isNaN(top) && near && ((w === worst && hidden === dim) || low - top < step)) {
        if (w < worst) worst = w;
        if (!hidden) dim = false;
        low = y[i]! + g.nodeHeight;
        continue;
      }
      flush();
      top = near && !Number.isNaN(top) ? low : y[i]!;
      low = y[i]! + g.nodeHeight;
      worst = w;
      dim = hidden;
    }
    flush();
    ctx.globalAlpha = 1;
  }

  private drawSmall(i: number, cls: number) {
    const { ctx, colors: c, layout: l } = this;
    const g = this.model.graph;
    ctx.globalAlpha = this.match && !this.match[i] ? 0.15 : cls >= Skipped ? 0.5 : 1;
    ctx.fillStyle = c.fill[cls]!;
    ctx.fillRect(l.x[i]!, l.y[i]!, g.nodeWidth, g.nodeHeight);
    ctx.globalAlpha = 1;
    if (i === this.selected || i === this.hovered) this.ring(i);
  }

  private drawNode(i: number, cls: number) {
    const { ctx, colors: c, layout: l } = this;
    const g = this.model.graph;
    const x = l.x[i]!,
      y = l.y[i]!,
      w = g.nodeWidth,
      h = g.nodeHeight;
    const flags = g.flags[i]!;
    ctx.globalAlpha = this.match && !this.match[i] ? 0.25 : 1;
    ctx.fillStyle = c.soft[cls]!;
    ctx.fillRect(x, y, w, h);
    ctx.fillStyle = c.fill[cls]!;
    ctx.fillRect(x, y, 4, h);
    ctx.lineWidth = 1;
    ctx.strokeStyle = c.line;
    if (cls === Pending || flags & missingFlag) ctx.setLineDash([4, 3]);
    ctx.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    ctx.setLineDash([]);
    if (this.scale > 0.34) {
      const node = this.model.nodes[i];
      const mark =
        flags & missingFlag
          ? "missing"
          : flags & finallyFlag
            ? "finally"
            : flags & forEachFlag
              ? "each"
              : flags & whenFlag
                ? "when"
                : "";
      ctx.textBaseline = "middle";
      ctx.fillStyle = cls >= Skipped ? c.dim : c.text;
      ctx.font = "500 12px system-ui, sans-serif";
      const two = h >= 34;
      ctx.fillText(this.label(i, w - 22), x + 12, two ? y + h * 0.36 : y + h / 2 + 0.5);
      if (two && this.scale > 0.5) {
        ctx.font = "10.5px system-ui, sans-serif";
        ctx.fillStyle = c.dim;
        const state = node?.state ?? "Pending";
        ctx.fillText((node?.attempts ?? 1) > 1 ? `${state} · attempt ${node!.attempts}` : state, x + 12, y + h * 0.71);
        if (mark) {
          ctx.textAlign = "right";
          ctx.fillText(mark, x + w - 8, y + h * 0.71);
          ctx.textAlign = "left";
        }
      }
    }
    ctx.globalAlpha = 1;
    if (i === this.selected || i === this.hovered) this.ring(i);
  }

  private ring(i: number) {
    const { ctx, layout: l } = this;
    const g = this.model.graph;
    ctx.strokeStyle = this.colors.accent;
    ctx.lineWidth = Math.max(2, 2 / this.scale);
    ctx.strokeRect(l.x[i]! - 1, l.y[i]! - 1, g.nodeWidth + 2, l.height[i]! + 2);
  }

  private drawBox(k: number) {
    const { ctx, colors: c, layout: l } = this;
    const { graph: g, counts } = this.model;
    const x = l.left[k]!,
      y = l.top[k]!,
      w = g.nodeWidth,
      total = g.layers[k]!.count;
    ctx.fillStyle = c.panel;
    ctx.fillRect(x, y, w, boxHeight);
    ctx.strokeStyle = c.line;
    ctx.lineWidth = 1;
    ctx.strokeRect(x + 0.5, y + 0.5, w - 1, boxHeight - 1);
    let at = x + 10;
    for (let s = 0; s < classes.length; s++) {
      const part = ((w - 20) * counts[k * classes.length + s]!) / total;
      ctx.fillStyle = c.fill[s]!;
      ctx.globalAlpha = s >= Skipped ? 0.4 : 1;
      ctx.fillRect(at, y + 34, part, 8);
      at += part;
    }
    ctx.globalAlpha = 1;
    if (this.selected >= 0 && g.layer[this.selected] === k) {
      ctx.strokeStyle = c.accent;
      ctx.lineWidth = Math.max(2, 2 / this.scale);
      ctx.strokeRect(x - 1, y - 1, w + 2, boxHeight + 2);
    }
    if (this.scale < 0.34) return;
    ctx.textBaseline = "middle";
    ctx.fillStyle = c.text;
    ctx.font = "600 13px system-ui, sans-serif";
    ctx.fillText(`${count(total)} nodes`, x + 10, y + 18);
    ctx.font = "11px system-ui, sans-serif";
    let line = 0;
    for (let s = 0; s < classes.length && line < 4; s++) {
      const number = counts[k * classes.length + s]!;
      if (!number) continue;
      ctx.fillStyle = c.fill[s]!;
      ctx.fillRect(x + 10, y + 55 + line * 18, 7, 7);
      ctx.fillStyle = c.dim;
      ctx.fillText(`${count(number)} ${classes[s]}`, x + 23, y + 59 + line * 18);
      line++;
    }
  }

  private drawHeaders() {
    const { ctx, colors: c } = this;
    const g = this.model.graph;
    ctx.fillStyle = c.page;
    ctx.fillRect(0, 0, this.width, headerHeight);
    ctx.fillStyle = c.line;
    ctx.fillRect(0, headerHeight - 1, this.width, 1);
    if (g.nodeWidth * this.scale < 56) return;
    ctx.textBaseline = "middle";
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = c.dim;
    for (let k = 0; k < g.layers.length; k++) {
      const x = this.layout.left[k]! * this.scale + this.ox;
      if (x > this.width || x + this.layout.span[k]! * this.scale < 0) continue;
      const sign = this.layout.collapsed[k] ? "▸" : "▾";
      ctx.fillText(
        `${sign} ${g.nodeWidth * this.scale > 100 ? `Layer ${k + 1} · ` : ""}${count(g.layers[k]!.count)}`,
        Math.max(x, Math.min(4, x + (this.layout.span[k]! - g.nodeWidth) * this.scale)) + 2,
        headerHeight / 2,
      );
    }
  }

  // label shortens a name in its middle, since names that belong together start alike, and numbers stand at their ends.
  private label(i: number, room: number): string {
    const known = this.labels[i];
    if (known !== undefined) return known;
    const name = this.model.graph.names[i]!;
    let text = name;
    const width = this.ctx.measureText(name).width;
    if (width > room) {
      const keep = Math.max(2, Math.floor((name.length * room) / width) - 1);
      text = name.slice(0, Math.ceil(keep * 0.55)) + "…" + name.slice(name.length - Math.floor(keep * 0.45));
    }
    return (this.labels[i] = text);
  }

  layerAt(px: number): number {
    const x = (px - this.ox) / this.scale;
    return this.layout.left.findIndex((left, k) => x >= left && x <= left + this.layout.span[k]!);
  }

  // nodeAt is the node at a point of the canvas, -1 without one; -2-k in the box of the collapsed layer k.
  nodeAt(px: number, py: number): number {
    const k = this.layerAt(px);
    if (k < 0) return -1;
    const l = this.layout,
      g = this.model.graph;
    const x = (px - this.ox) / this.scale,
      y = (py - this.oy) / this.scale;
    if (l.collapsed[k]) return y >= l.top[k]! && y <= l.bottom[k]! ? -2 - k : -1;
    const c = l.columns.find((c) => x >= c.x && x <= c.x + g.nodeWidth);
    if (!c) return -1;
    const o = this.firstVisible(c, y);
    const i = o < c.first + c.count ? g.order[o]! : -1;
    return i >= 0 && y >= l.y[i]! ? i : -1;
  }

  private readonly pointers = new Map<number, { x: number; y: number }>();
  private travelled = 0;

  private point(e: MouseEvent) {
    const box = this.canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }

  private readonly down = (e: PointerEvent) => {
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, this.point(e));
    if (this.pointers.size === 1) this.travelled = 0;
  };

  private readonly move = (e: PointerEvent) => {
    const p = this.point(e);
    const before = this.pointers.get(e.pointerId);
    if (!before) {
      this.hover(p);
      return;
    }
    const others = [...this.pointers].filter(([id]) => id !== e.pointerId).map(([, o]) => o);
    if (others.length) {
      const o = others[0]!;
      const factor = Math.hypot(p.x - o.x, p.y - o.y) / Math.max(1, Math.hypot(before.x - o.x, before.y - o.y));
      this.zoom(factor, (p.x + o.x) / 2, (p.y + o.y) / 2);
      this.travelled = 100;
    } else {
      this.travelled += Math.abs(p.x - before.x) + Math.abs(p.y - before.y);
      if (this.travelled > 4) this.pan(p.x - before.x, p.y - before.y);
    }
    this.pointers.set(e.pointerId, p);
  };

  private readonly up = (e: PointerEvent) => {
    const had = this.pointers.delete(e.pointerId);
    if (!had || this.pointers.size || this.travelled > 4 || e.type === "pointercancel") return;
    const p = this.point(e);
    if (p.y < headerHeight) {
      const k = this.layerAt(p.x);
      if (k >= 0) this.on.toggle(k);
      return;
    }
    const i = this.nodeAt(p.x, p.y);
    if (i <= -2) this.on.toggle(-2 - i);
    else {
      this.on.select(i);
      if (i >= 0) this.on.open(i);
    }
  };

  private hover(p: { x: number; y: number }) {
    const i = p.y < headerHeight ? -1 : this.nodeAt(p.x, p.y);
    this.canvas.style.cursor = i >= 0 || i <= -2 || p.y < headerHeight ? "pointer" : "grab";
    if (Math.max(i, -1) !== this.hovered) {
      this.hovered = Math.max(i, -1);
      this.invalidate();
    }
    this.on.hover(this.hovered, p.x, p.y);
  }

  private readonly leave = () => {
    if (this.hovered < 0) return;
    this.hovered = -1;
    this.on.hover(-1, 0, 0);
    this.invalidate();
  };

  private readonly double = (e: MouseEvent) => {
    const p = this.point(e);
    if (this.nodeAt(p.x, p.y) === -1 && p.y > headerHeight) this.zoom(1.6, p.x, p.y);
  };

  private readonly wheel = (e: WheelEvent) => {
    e.preventDefault();
    const p = this.point(e);
    if (e.shiftKey) this.pan(-e.deltaY - e.deltaX, 0);
    else this.zoom(Math.exp(-clamp(e.deltaY, -200, 200) * 0.0022), p.x, p.y);
  };

  // next is the node beside another one: up and down within its layer, left and right along its edges.
  next(i: number, key: string): number {
    const { graph: g, dependencies, dependents } = this.model;
    if (i < 0) return g.order[0] ?? -1;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const a = key === "ArrowLeft" ? dependencies : dependents;
      return a.first[i]! < a.first[i + 1]! ? a.list[a.first[i]!]! : i;
    }
    const l = g.layers[g.layer[i]!]!;
    for (let o = l.first; o < l.first + l.count; o++) {
      if (g.order[o] === i) return g.order[clamp(o + (key === "ArrowUp" ? -1 : 1), l.first, l.first + l.count - 1)]!;
    }
    return i;
  }
}

const clamp = (v: number, low: number, high: number) => Math.max(low, Math.min(high, v));

// drawStrip draws all layers as bars of their states, one beside the other: the map of a large flow.
export function drawStrip(canvas: HTMLCanvasElement, view: GraphCanvas) {
  const box = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  const width = Math.round(box.width * ratio),
    height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const ctx = canvas.getContext("2d")!;
  const style = getComputedStyle(document.documentElement);
  const fill = classes.map((c) => style.getPropertyValue(`--${c}`).trim());
  const { graph: g, counts } = view.model;
  const n = g.layers.length;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, box.width, box.height);
  const bars = Math.min(n, Math.floor(box.width / 2));
  const most = Math.max(...g.layers.map((l) => l.count));
  for (let b = 0; b < bars; b++) {
    const from = Math.floor((b * n) / bars),
      to = Math.max(from + 1, Math.floor(((b + 1) * n) / bars));
    const sum = new Array<number>(classes.length).fill(0);
    for (let k = from; k < to; k++) for (let s = 0; s < classes.length; s++) sum[s]! += counts[k * classes.length + s]!;
    const total = sum.reduce((x, y) => x + y, 0) || 1;
    // A layer's height grows with its logarithm, so that a layer of one node is seen beside one of thousands.
    const high = Math.max(
      3,
      (box.height - 2) * (most > 1 ? Math.log(1 + total / (to - from)) / Math.log(1 + most) : 1),
    );
    let at = box.height - 1;
    const x = (b * box.width) / bars;
    for (let s = classes.length - 1; s >= 0; s--) {
      if (!sum[s]) continue;
      const h = Math.max(s === Failed ? 2 : 0, (high * sum[s]!) / total);
      ctx.fillStyle = fill[s]!;
      ctx.globalAlpha = s >= Skipped ? 0.35 : 0.9;
      ctx.fillRect(x, at - h, Math.max(1, box.width / bars - 1), h);
      at -= h;
    }
  }
  ctx.globalAlpha = 1;
}

// frameStrip moves the frame on the map to the part that the canvas shows.
export function frameStrip(frame: HTMLElement, view: GraphCanvas) {
  const l = view.layout,
    n = l.left.length;
  const part = (x: number) => {
    let low = 0,
      high = n - 1;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (x >= l.left[mid]! + l.span[mid]!) low = mid + 1;
      else high = mid;
    }
    return (low + Math.max(0, Math.min(1, (x - l.left[low]!) / l.span[low]!))) / n;
  };
  const from = part(-view.ox / view.scale),
    to = part((view.width - view.ox) / view.scale);
  frame.style.left = `${100 * from}%`;
  frame.style.width = `max(4px, ${100 * (to - from)}%)`;
}
