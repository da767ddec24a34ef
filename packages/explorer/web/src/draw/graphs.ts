// SPDX-License-Identifier: MIT
// Drawing of graphs: with Graphviz, and large ones on a canvas or as plain boxes.

import type { Graph, GraphNode } from '../api/schema';
import type { Placed } from './layout.worker';
import { type Drawing, escaped, framed, pageColour } from './pictures';

const MOST_NODES = 2000;
const MOST_PARTS = 6000;
const PATIENCE = 5000;
const MOST_LETTERS = 400;
/** The spacing and the size of boxes. */
export const STEP = { x: 24, y: 20 };
const BOX = { x: 16, y: 10 };
/** The colours of boxes by status, relative to another state. */
const COLOURS: Record<string, string> = { added: '--good', changed: '--accent', removed: '--bad' };

/** All nodes to draw: present and removed ones. */
export function drawnNodes(graph: Graph): GraphNode[] {
  return [...graph.nodes, ...graph.removed_nodes.map((one) => ({ ...one, id: `gone ${one.id}`, status: 'removed' }))];
}

// Graphviz knows the width of Courier, and other monospaced fonts are not wider.
const quoted = (text: string) => JSON.stringify(text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text).replaceAll('\\n', '\\l');

function dotOf(graph: Graph): string {
  const lines = drawnNodes(graph).map((one) => `${quoted(one.id)} [label=${quoted(one.label + (one.label.includes('\n') ? '\n' : ''))}, class="s-${one.status || 'none'}", tooltip=${quoted(one.status || one.kind)}]`);
  const links = graph.edges.map((one) => `${quoted(one.source)} -> ${quoted(one.target)} [label=${quoted(one.label)}, class="s-${one.status || 'none'}"]`);
  return `digraph { bgcolor="transparent"; node [shape=box, style="rounded,filled", fontname="Courier", fontsize=10, margin="0.12,0.06"]; edge [fontsize=9, fontname="Courier", arrowsize=0.7]; ${[...lines, ...links].join(';')} }`;
}

/** The result of a layout: a drawing, or the positions of nodes. */
export interface Layout {
  svg?: string;
  placed?: Placed;
  error?: string;
}

/** Computes one layout at a time in a worker; only the last request counts. */
export class Layouts {
  private worker: Worker | undefined;
  /** The timer of the time limit: 0 if idle, -1 if unlimited. */
  private timer = 0;

  lay(graph: Graph, done: (layout: Layout) => void): void {
    const size = graph.nodes.length + graph.removed_nodes.length;
    const asked = { nodes: drawnNodes(graph), edges: graph.edges };
    if (size > MOST_NODES || size + graph.edges.length > MOST_PARTS) return this.ask(asked, done);
    this.ask({ dot: dotOf(graph) }, done);
    // Graphviz needs minutes for some graphs, even small ones.
    this.timer = window.setTimeout(() => this.ask(asked, done), PATIENCE);
  }
  private ask(what: object, done: (layout: Layout) => void): void {
    if (this.timer) this.end(); // The running request is obsolete.
    const worker = (this.worker ??= new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' }));
    this.timer = -1;
    worker.onmessage = ({ data }: MessageEvent<Layout>) => {
      clearTimeout(this.timer);
      this.timer = 0;
      done(data);
    };
    worker.postMessage(what);
  }
  end(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.worker?.terminate();
    this.worker = undefined;
  }
}

const extent = (values: Float32Array) => values.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)] as const, [Infinity, -Infinity] as readonly [number, number]);

/** The bounding box. */
export function boundsOf(at: Placed): { left: number; top: number; width: number; height: number } {
  const [[left, right], [top, bottom]] = [extent(at.x), extent(at.y)];
  return { left: left - STEP.x, top: top - STEP.y, width: right - left + 2 * STEP.x, height: bottom - top + 2 * STEP.y };
}

/** The index of the node at a point, or -1. */
export function nodeAt(at: Placed, x: number, y: number): number {
  return at.x.findIndex((one, i) => Math.abs(one - x) <= BOX.x / 2 && Math.abs((at.y[i] ?? 0) - y) <= BOX.y / 2);
}

const grouped = (nodes: GraphNode[]) => ['', 'same', 'changed', 'added', 'removed'].map((status) => ({
  colour: pageColour(COLOURS[status] ?? '--dim'),
  places: nodes.flatMap((node, i) => (node.status === status ? [i] : [])),
}));

/** Paint the visible part of a large graph on a canvas of size `wide` x `high`. */
export function paint(pen: CanvasRenderingContext2D, at: Placed, nodes: GraphNode[], wide: number, high: number, shift: { x: number; y: number }, scale: number): void {
  pen.fillStyle = pageColour('--panel');
  pen.fillRect(0, 0, wide, high);
  pen.translate(shift.x, shift.y);
  pen.scale(scale, scale);
  pen.strokeStyle = pageColour('--line');
  pen.lineWidth = 0.7;
  pen.beginPath();
  for (let i = 0; i < at.edges.length; i += 2) {
    const [a, b] = [at.edges[i] ?? 0, at.edges[i + 1] ?? 0];
    pen.moveTo(at.x[a] ?? 0, at.y[a] ?? 0);
    pen.lineTo(at.x[b] ?? 0, at.y[b] ?? 0);
  }
  pen.stroke();
  for (const { colour, places } of grouped(nodes)) {
    pen.fillStyle = colour;
    for (const i of places) pen.fillRect((at.x[i] ?? 0) - BOX.x / 2, (at.y[i] ?? 0) - BOX.y / 2, BOX.x, BOX.y);
  }
  if (scale < 3) return;
  pen.fillStyle = pageColour('--panel');
  pen.font = `${BOX.y / 4}px ui-monospace, monospace`;
  const [left, top] = [-shift.x / scale - STEP.x, -shift.y / scale - STEP.y];
  nodes.forEach((node, i) => {
    const [x, y] = [at.x[i] ?? 0, at.y[i] ?? 0];
    if (x > left && y > top && x < left + wide / scale + 2 * STEP.x && y < top + high / scale + 2 * STEP.y)
      node.label.split('\n').slice(0, 3).forEach((line, n) => pen.fillText(line.slice(0, 10), x - BOX.x / 2 + 0.5, y - BOX.y / 5 + (n * BOX.y) / 3.5));
  });
}

/** A drawing of a complete large graph. */
export function largeDrawing(at: Placed, nodes: GraphNode[]): Drawing {
  const { left, top, width, height } = boundsOf(at);
  let lines = '';
  for (let i = 0; i < at.edges.length; i += 2) {
    const [a, b] = [at.edges[i] ?? 0, at.edges[i + 1] ?? 0];
    lines += `M${at.x[a]} ${at.y[a]}L${at.x[b]} ${at.y[b]}`;
  }
  const boxes = grouped(nodes).map(({ colour, places }) => `<g fill="${colour}">${places.map((i) =>
    `<rect x="${(at.x[i] ?? 0) - BOX.x / 2}" y="${(at.y[i] ?? 0) - BOX.y / 2}" width="${BOX.x}" height="${BOX.y}"><title>${escaped(nodes[i]?.label ?? '')}</title></rect>`).join('')}</g>`);
  return framed(`<g transform="translate(${-left} ${-top})"><path d="${lines}" stroke="${pageColour('--line')}" stroke-width="0.7" fill="none"/>${boxes.join('')}</g>`, width, height);
}
