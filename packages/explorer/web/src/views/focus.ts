// SPDX-License-Identifier: MIT
// Where the keyboard is when a dialog opens.

/** Focus the control in `node` with which a dialog begins, unless the user has already chosen another. */
export function first(node: HTMLElement): void {
  const dialog = node.closest('dialog');
  requestAnimationFrame(() => {
    if (dialog?.querySelector('h2') !== document.activeElement) return;
    (node.matches('input, select, textarea, button') ? node : node.querySelector<HTMLElement>('input, select, textarea, button'))?.focus();
  });
}
