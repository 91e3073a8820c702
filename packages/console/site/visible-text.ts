import { options, type VNode } from 'preact';

/** Characters that reorder text, are invisible, or break a line. */
const hidden = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\x7f-\x9f]/gu;

/** Attributes that a browser or a screen reader presents as text. */
const textAttributes = ['aria-label', 'title', 'alt', 'placeholder', 'label'] as const;

/**
 * Returns the text with invisible, reordering and line-breaking characters written as escapes such as `\u202e`, so that
 * the text is shown as it is. JSON stays equivalent JSON.
 */
export function visibleText(text: string): string {
  return text.replaceAll(hidden, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/**
 * Applies `visibleText` to every text that the page renders from now on. The attributes of `time` are excluded: the
 * browser formats them, in some languages with directional marks.
 */
export function showHiddenCharacters(): void {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    before?.(node);
    // Preact creates a node without a type for each text; its props are the text itself.
    const text = node as unknown as { type: unknown; props: unknown };
    if (text.type === null) text.props = visibleText(String(text.props));
    if (typeof node.type !== 'string' || node.type === 'time') return;
    const props = node.props as Record<string, unknown>;
    for (const name of textAttributes) {
      if (typeof props[name] === 'string') props[name] = visibleText(props[name]);
    }
  };
}
