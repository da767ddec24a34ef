// SPDX-License-Identifier: MIT
// Form values of unnamed actions.

import type { Shape } from '../api/schema';

/** The initial value: the first choice, or the smallest number. */
export function beginning(shape: Shape): unknown {
  const { kind, items = [], least = 0 } = shape;
  if (kind === 'choice') return shape.values?.[0];
  if (kind === 'number') return shape.low ?? Math.min(0, shape.high ?? 0);
  if (kind === 'text') return '';
  if (kind === 'order') return Array.from({ length: least }, (_, i) => i + (shape.low ?? 0));
  if (kind === 'list') return Array.from({ length: least }, () => items[0] && beginning(items[0]));
  if (kind === 'case') return { [shape.name ?? '']: items[0]?.name };
  if (kind !== 'fields') return null;
  if (shape.in_order) return items.map(beginning);
  return Object.fromEntries(items.map((item) => [item.name ?? '', beginning(item)]));
}

/** True if the form could have produced the value. */
export function fits(shape: Shape, value: unknown): boolean {
  const { kind, items = [] } = shape;
  const list = Array.isArray(value) ? value : null;
  const table = value !== null && typeof value === 'object' && !list ? (value as Record<string, unknown>) : null;
  if (kind === 'choice') return (shape.values ?? []).includes(value as never);
  if (kind === 'number') return typeof value === 'number';
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'order') return list?.length === shape.least;
  if (kind === 'list') return !!list?.every((one) => items[0] && fits(items[0], one));
  if (kind === 'case') return typeof table?.[shape.name ?? ''] === 'string';
  if (kind !== 'fields') return true;
  if (shape.in_order) return list?.length === items.length && items.every((item, i) => fits(item, list[i]));
  return !!table && items.every((item) => fits(item, table[item.name ?? '']));
}

/** A short description of an action: the parts that differ from the initial value. */
export function said(shape: Shape, value: unknown, name = shape.name ?? ''): string {
  const { kind, items = [] } = shape;
  const table = value as Record<string, unknown>;
  if (!fits(shape, value)) return JSON.stringify(value);
  if (kind === 'case') {
    const rest = Object.entries(table).filter(([key]) => key !== shape.name);
    return [table[shape.name ?? ''], ...rest.map(([key, one]) => `${key}=${String(one)}`)].join(' ');
  }
  if (kind === 'fields') {
    const parts = items.map((item, i) => [item, shape.in_order ? (value as unknown[])[i] : table[item.name ?? '']] as const);
    const moved = parts.filter(([item, one]) => JSON.stringify(one) !== JSON.stringify(beginning(item)));
    const inner = moved.map(([item, one]) => said(item, one)).join(' ') || 'all defaults';
    return name ? `${name}: ${inner}` : inner;
  }
  const text = kind === 'choice' ? (shape.options?.[shape.values?.indexOf(value as never) ?? -1] || 'not set') : kind === 'list' && items[0] ? (value as unknown[]).map((one) => items[0] && said(items[0], one)).join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return !name || text.startsWith(name) ? text : `${name}=${text}`;
}

/** A copy of `list` with the value at `place` moved by `by`. */
export function moved<T>(list: T[], place: number, by: number): T[] {
  const rest = list.filter((_, i) => i !== place);
  rest.splice(Math.max(0, place + by), 0, list[place] as T);
  return rest;
}
