// SPDX-License-Identifier: MIT
// Formatting of numbers and names, and fuzzy search.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A number with a sensible number of digits. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (Number.isInteger(value)) return minus(whole.format(value));
  const size = Math.abs(value);
  return minus(size >= 1000 ? whole.format(value) : size >= 10 ? value.toFixed(1) : value.toPrecision(3).replace(/0+$/, '').replace(/\.$/, ''));
}

/** A difference with its sign, or a dot for zero. */
export function signed(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  return value === 0 ? '·' : value > 0 ? `+${number(value)}` : number(value);
}

const minus = (text: string) => text.replace(/^-/, '−');

/** The score of `text` for `query`: higher is better, negative is no match. */
export function match(query: string, text: string): number {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = text.toLowerCase();
  let score = 0;
  for (const word of words) {
    const place = found.indexOf(word);
    if (place >= 0) {
      score += 100 - Math.min(place, 50) + (place === 0 ? 40 : /[^a-z0-9]/.test(found[place - 1] ?? '') ? 20 : 0);
      continue;
    }
    let from = 0;
    for (const letter of word) {
      from = found.indexOf(letter, from) + 1;
      if (from === 0) return -1;
    }
    score += 10;
  }
  return score - found.length / 100;
}

/** The last, recognisable part of a URI. */
export function short(uri: string): string {
  const parts = uri.replace(/^benchmark:\/\//, '').split('/');
  return parts.length > 2 ? parts.slice(-1)[0] ?? uri : parts.join('/');
}

/** A problem and the advice, as sentences. */
export function said(problem: { message: string; next?: string | null }): string {
  const next = problem.next ?? '';
  if (!next) return problem.message;
  const end = problem.message.includes('\n') ? '\n' : /[.!?…]$/.test(problem.message) ? ' ' : '. ';
  return `${problem.message}${end}${next[0]?.toUpperCase()}${next.slice(1)}`;
}

export const plural = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** The URL fragment of `episode`, in the server's format. */
export async function fragmentOf(episode: object): Promise<string> {
  const plain = Object.fromEntries(Object.entries(episode).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  const packed = new Blob([JSON.stringify(plain)]).stream().pipeThrough(new CompressionStream('deflate'));
  let text = '';
  for (const byte of new Uint8Array(await new Response(packed).arrayBuffer())) text += String.fromCharCode(byte);
  return `s1.${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** Download `text` as a file. */
export function save(name: string, data: string | Blob, type = 'text/plain'): void {
  const blob = typeof data === 'string' ? new Blob([data], { type }) : data;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}
