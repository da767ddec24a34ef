// SPDX-License-Identifier: MIT
// Differences between two texts of a program, ignoring the numbers of values.

import { Change, diff } from '@codemirror/merge';

const NUMBERED = /%\d+|(?<=^|\s)\d+(?=:)|![0-9]+|#[0-9]+/g;
const FIRST_LETTER = 0x4e00;
const MOST_KINDS = 20_000;

/** The changes from `a` to `b`: whole lines, and words within corresponding lines. */
export function changes(a: string, b: string): readonly Change[] {
  const [old, fresh] = [a.split('\n'), b.split('\n')];
  const kinds = new Map<string, string>();
  // Each distinct line becomes one character, so that a diff of characters is a diff of lines.
  const letter = (line: string) => {
    const kind = line.replace(NUMBERED, '%');
    let known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, (known = String.fromCharCode(FIRST_LETTER + (kinds.size % MOST_KINDS))));
    return known;
  };
  const found = diff(old.map(letter).join(''), fresh.map(letter).join(''), { scanLimit: 2000, timeout: 200 });
  const [placesA, placesB] = [starts(old), starts(fresh)];
  const at = (places: number[], line: number, text: string) => Math.min(places[line] ?? text.length, text.length);
  return found.map((one) => new Change(at(placesA, one.fromA, a), at(placesA, one.toA, a), at(placesB, one.fromB, b), at(placesB, one.toB, b)));
}

/** The offset of each line. */
function starts(lines: string[]): number[] {
  const places: number[] = [];
  let at = 0;
  for (const line of lines) {
    places.push(at);
    at += line.length + 1;
  }
  return places;
}
