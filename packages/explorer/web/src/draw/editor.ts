// SPDX-License-Identifier: MIT
// The CodeMirror configuration of all panes: one theme, and one line tokenizer for every language.

import { defaultKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { closeSearchPanel, highlightSelectionMatches, openSearchPanel, searchKeymap, searchPanelOpen } from '@codemirror/search';
import { EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const COMMENTS: Record<string, string> = { llvm: ';', gas: '#' };
const KEYWORDS = /^(?:define|declare|ret|br|label|call|tail|load|store|alloca|getelementptr|phi|select|switch|icmp|fcmp|add|sub|mul|[su]div|[su]rem|shl|[la]shr|and|or|xor|global|constant|int|char|void|long|short|double|float|unsigned|signed|static|const|struct|union|enum|typedef|return|if|else|for|while|do|break|continue|case|default|sizeof|class|template|namespace|i\d+|ptr)\b/;

const highlights = HighlightStyle.define([
  { tag: tags.keyword, class: 't-k' },
  { tag: tags.number, class: 't-n' },
  { tag: tags.string, class: 't-s' },
  { tag: tags.comment, class: 't-c' },
  { tag: tags.variableName, class: 't-v' },
]);

const reader = (language: string) =>
  StreamLanguage.define({
    token(stream) {
      if (stream.eatSpace()) return null;
      const comment = COMMENTS[language] ?? '//';
      if (stream.match(comment)) {
        stream.skipToEnd();
        return 'comment';
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
      if (stream.match(/^[%@!][\w.$-]+/)) return 'variableName';
      if (stream.match(/^-?(?:0x[\da-f]+|\d[\d.e+]*)/i)) return 'number';
      if (stream.match(KEYWORDS)) return 'keyword';
      if (!stream.match(/^[\w.$]+/)) stream.next();
      return null;
    },
  });

const mark = Decoration.line({ class: 'linked' });
export const setLinked = StateEffect.define<number[]>();
const linked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, change) {
    for (const effect of change.effects)
      if (effect.is(setLinked)) {
        const lines = effect.value.filter((n) => n > 0 && n <= change.state.doc.lines).sort((a, b) => a - b);
        value = Decoration.set(lines.map((n) => mark.range(change.state.doc.line(n).from)));
      }
    return value.map(change.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Highlighted lines: the colour number of each, by line. */
export function coloured(lines: Map<number, number>): Extension {
  return EditorView.decorations.of((view) => {
    const known = [...lines].filter(([n]) => n > 0 && n <= view.state.doc.lines).sort((a, b) => a[0] - b[0]);
    return Decoration.set(known.map(([n, hue]) => Decoration.line({ class: `hue-${hue}` }).range(view.state.doc.line(n).from)));
  });
}

/** The extensions of a read-only editor. */
export function shown(language: string, label: string): Extension[] {
  return [...base(language, label), EditorState.readOnly.of(true), lineNumbers(), linked];
}

/** The extensions of an editor for writing a program. */
export function written(language: string, label: string): Extension[] {
  // Escape leaves the editor; it must not also close a dialog, which would lose the text.
  const leave = (view: EditorView) => (view.contentDOM.blur(), true);
  return [...base(language, label), lineNumbers(), keymap.of([{ key: 'Escape', run: leave }])];
}

/** Show or hide the search panel. */
export function toggleSearch(view: EditorView | undefined): void {
  if (!view) return;
  if (searchPanelOpen(view.state)) closeSearchPanel(view);
  else openSearchPanel(view);
}

function base(language: string, label: string): Extension[] {
  return [
    drawSelection(), highlightActiveLine(), highlightSelectionMatches(), reader(language), syntaxHighlighting(highlights),
    keymap.of([...defaultKeymap, ...searchKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.theme({ '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.5' } }),
  ];
}
