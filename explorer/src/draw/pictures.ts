// SPDX-License-Identifier: MIT
// Keeps a picture as a file that looks the same without the page's style.

import { save } from '../state/words';

const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family', 'opacity', 'text-anchor'];

function text(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const from = picture.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((one, i) => {
    const seen = from[i];
    if (!seen) return;
    const style = getComputedStyle(seen);
    for (const name of KEPT) one.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(picture: SVGSVGElement | null | undefined, name: string): void {
  if (picture) save(name, text(picture), 'image/svg+xml');
}

export function savePng(picture: SVGSVGElement | Blob | null | undefined, name: string): void {
  if (!picture) return;
  if (picture instanceof Blob) return save(name, picture);
  const { width, height } = picture.getBoundingClientRect();
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext('2d')?.drawImage(image, 0, 0, width * 2, height * 2);
    canvas.toBlob((blob) => blob && save(name, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(picture))}`;
}
