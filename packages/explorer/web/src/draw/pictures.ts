// SPDX-License-Identifier: MIT
// Saves pictures that look the same without the page's styles: drawings, and views
// that consist of boxes and text.

import { save } from '../state/words';

/** A self-contained picture. */
export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family', 'opacity', 'text-anchor', 'white-space'];
/** The selector of controls, which are left out of files. */
const LEFT_OUT = '[data-control]';
const MOST_PIXELS = 8000;

export const escaped = (text: string) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

/** A colour in a notation that every program reads, unlike newer CSS notations. */
export function plainColour(colour: string): string {
  const pen = new OffscreenCanvas(1, 1).getContext('2d');
  if (!pen || !colour || colour === 'none') return 'none';
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, a = 0] = pen.getImageData(0, 0, 1, 1).data;
  return a === 0 ? 'none' : `#${[r, g, b].map((one) => one.toString(16).padStart(2, '0')).join('')}`;
}

export const pageColour = (name: string) => plainColour(getComputedStyle(document.documentElement).getPropertyValue(name).trim());

/** A drawing of the given size, on the page's background. */
export function framed(inner: string, width: number, height: number): Drawing {
  const ground = `<rect width="100%" height="100%" fill="${pageColour('--panel')}"/>`;
  return { svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${ground}${inner}</svg>`, width, height };
}

function ofSvg(picture: SVGSVGElement): Drawing {
  const { width, height } = picture.viewBox.baseVal;
  return framed(nested(picture, 0, 0, width, height), width, height);
}

/** An SVG with the page's styles inlined, for embedding in another. */
function nested(picture: SVGSVGElement, x: number, y: number, width: number, height: number): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const from = picture.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((one, i) => {
    const seen = from[i];
    if (!seen || /^(title|desc|a)$/i.test(one.tagName)) return;
    const style = getComputedStyle(seen);
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      one.setAttribute(name, /^(fill|stroke)$/.test(name) ? plainColour(value) : value);
    }
  });
  for (const [name, value] of Object.entries({ x, y, width, height })) copy.setAttribute(name, String(value));
  return new XMLSerializer().serializeToString(copy);
}

function ofBoxes(root: HTMLElement): Drawing {
  const frame = root.getBoundingClientRect();
  const at = (box: DOMRect) => ({ x: box.x - frame.x + root.scrollLeft, y: box.y - frame.y + root.scrollTop });
  const parts: string[] = [];
  const visit = (node: Node): void => {
    if (node instanceof SVGSVGElement) {
      const box = node.getBoundingClientRect();
      const { x, y } = at(box);
      parts.push(nested(node, x, y, box.width, box.height));
    } else if (node instanceof HTMLElement) {
      if (node.matches(LEFT_OUT)) return;
      if (node !== root) parts.push(boxOf(node, at(node.getBoundingClientRect())));
      node.childNodes.forEach(visit);
    } else if (node instanceof Text && node.data.trim() && node.parentElement) parts.push(...linesOf(node, node.parentElement, at));
  };
  visit(root);
  return framed(parts.join(''), root.scrollWidth, root.scrollHeight);
}

function boxOf(element: HTMLElement, { x, y }: { x: number; y: number }): string {
  const style = getComputedStyle(element);
  const [fill, edge] = [plainColour(style.backgroundColor), plainColour(style.borderTopColor)];
  const line = style.borderTopStyle === 'none' ? 0 : Number.parseFloat(style.borderTopWidth);
  if (fill === 'none' && !line) return '';
  const { width, height } = element.getBoundingClientRect();
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${Number.parseFloat(style.borderTopLeftRadius) || 0}" fill="${fill}"${line ? ` stroke="${edge}" stroke-width="${line}"` : ''}/>`;
}

/** The visible lines of a text at their positions, clipped to its box. */
function linesOf(node: Text, parent: HTMLElement, at: (box: DOMRect) => { x: number; y: number }): string[] {
  const style = getComputedStyle(parent);
  const hidden = style.overflowX === 'hidden' ? parent.clientWidth / Math.max(1, parent.scrollWidth) : 1;
  const lines: { text: string; box: DOMRect }[] = [];
  const range = document.createRange();
  for (let i = 0; i < node.data.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.box.y - box.y) < 2) last.text += node.data[i];
    else if (box.width) lines.push({ text: node.data[i] ?? '', box });
  }
  return lines.map(({ text, box }) => {
    const { x, y } = at(box);
    const seen = hidden < 1 ? `${text.slice(0, Math.max(1, Math.floor(text.length * hidden) - 1))}…` : text;
    return `<text x="${x}" y="${y + box.height * 0.78}" fill="${plainColour(style.color)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" font-family="${escaped(style.fontFamily)}">${escaped(seen.trimEnd())}</text>`;
  });
}

export function drawingOf(element: Element): Drawing {
  return element instanceof SVGSVGElement ? ofSvg(element) : ofBoxes(element as HTMLElement);
}

export function saveSvg(drawing: Drawing, name: string): void {
  save(`${name}.svg`, drawing.svg, 'image/svg+xml');
}

/** Save a drawing as PNG, at twice the page's resolution if that is not too large. */
export function savePng({ svg, width, height }: Drawing, name: string): void {
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && save(`${name}.png`, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}
