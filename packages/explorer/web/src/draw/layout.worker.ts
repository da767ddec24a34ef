// SPDX-License-Identifier: MIT
// Computes layouts in a worker: small graphs with Graphviz, large ones in layers.

import type { Edge, GraphNode } from '../api/schema';

export interface Placed {
  x: Float32Array;
  y: Float32Array;
  edges: Uint32Array;
}
interface Laid {
  nodes: GraphNode[];
  edges: Edge[];
}

let viz: Promise<{ dot(text: string): string }> | undefined;

self.onmessage = async ({ data }: MessageEvent<{ dot: string } | Laid>) => {
  try {
    if ('nodes' in data) {
      const placed = layers(data);
      self.postMessage({ placed }, { transfer: [placed.x.buffer, placed.y.buffer, placed.edges.buffer] });
      return;
    }
    viz ??= import('@hpcc-js/wasm-graphviz').then(({ Graphviz }) => Graphviz.load());
    self.postMessage({ svg: (await viz).dot(data.dot) });
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};

/** Layers by distance from the roots, wrapped; ordered within a layer by the neighbours' positions. */
function layers(graph: Laid): Placed {
  const place = new Map(graph.nodes.map((node, i) => [node.id, i]));
  const pairs = graph.edges.map((edge) => [place.get(edge.source), place.get(edge.target)] as const)
    .filter((pair): pair is readonly [number, number] => pair[0] !== undefined && pair[1] !== undefined);
  const count = graph.nodes.length;
  const next: number[][] = Array.from({ length: count }, () => []);
  const before: number[][] = Array.from({ length: count }, () => []);
  for (const [a, b] of pairs) {
    next[a]?.push(b);
    before[b]?.push(a);
  }
  const depth = new Int32Array(count).fill(-1);
  const order: number[] = [];
  const begin = [...Array(count).keys()].sort((a, b) => (before[a]?.length ?? 0) - (before[b]?.length ?? 0));
  for (const root of begin) {
    if ((depth[root] ?? 0) >= 0) continue;
    depth[root] = 0;
    const queue = [root];
    for (let at = 0; at < queue.length; at++) {
      const node = queue[at] ?? 0;
      order.push(node);
      for (const other of next[node] ?? [])
        if ((depth[other] ?? 0) < 0) {
          depth[other] = (depth[node] ?? 0) + 1;
          queue.push(other);
        }
    }
  }
  const rows = new Map<number, number[]>();
  for (const node of order) {
    const row = rows.get(depth[node] ?? 0) ?? [];
    row.push(node);
    rows.set(depth[node] ?? 0, row);
  }
  const widest = Math.max(40, Math.ceil(Math.sqrt(count) * 2));
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  let top = 0;
  for (const key of [...rows.keys()].sort((a, b) => a - b)) {
    const row = rows.get(key) ?? [];
    const mean = (node: number) => {
      const known = before[node] ?? [];
      return known.length ? known.reduce((sum, one) => sum + (x[one] ?? 0), 0) / known.length : 0;
    };
    const keyed = row.map((node) => [mean(node), node] as const).sort((a, b) => a[0] - b[0]);
    keyed.forEach(([, node], i) => {
      const wide = Math.min(widest, keyed.length);
      x[node] = ((i % widest) - wide / 2) * 24;
      y[node] = top + Math.floor(i / widest) * 20;
    });
    top += Math.ceil(row.length / widest) * 20 + 26;
  }
  return { x, y, edges: new Uint32Array(pairs.flat()) };
}
