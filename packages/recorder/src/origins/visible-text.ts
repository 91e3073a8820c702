/** Characters that are invisible on a screen: joiners, soft hyphens, variation selectors, tags. */
const ignorable = /\p{Default_Ignorable_Code_Point}+/gu;
const mayBeMarkup = /[<&*~`\\[(]|(?:\S ){5}\S(?!\S)/;
/** Elements that separate the text before and after them. */
const blocks =
  /^<\/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|img|input|li|main|nav|ol|option|p|pre|section|table|tbody|td|tfoot|th|thead|title|tr|ul)\b/i;
const tag = /<\/?[a-z][^<>]{0,500}>/gi;
/** Comments stay readable: a model reads them, although a person does not see them. */
const comment = /<!--|-->/g;
const entity = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,24}));/gi;
/** Emphasis and code marks of Markdown that touch a word on both sides. */
const emphasis = /(?<=\S)[*~`]{1,3}(?=\S)/g;
const escaped = /\\([!-/:-@[-`{-~])/g;

/** Spellings of an address that keep programs from reading it. */
const spelledAt = /\s{0,3}[[({](?:at|@)[\])}]\s{0,3}/gi;
const spelledDot = /\s{0,3}[[({](?:dot|\.)[\])}]\s{0,3}/gi;
/** Words that are spelled out, letter by letter. */
const spelledOut = /(?<!\S)(?:\S ){5,}\S(?!\S)/g;

const named: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  commat: '@',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lt: '<',
  nbsp: ' ',
  period: '.',
  quot: '"',
  sol: '/',
};
/** Entities of invisible characters. */
const invisible = new Set('shy zwj zwnj zwsp lrm rlm wj zerowidthspace nobreak invisiblecomma'.split(' '));

function decoded(
  whole: string,
  decimal: string | undefined,
  hexadecimal: string | undefined,
  name: string | undefined,
): string {
  if (name !== undefined) {
    const lower = name.toLowerCase();
    return invisible.has(lower) ? '' : (named[lower] ?? whole);
  }
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

/** Removes invisible characters. */
export function withoutIgnorable(text: string): string {
  return text.replace(ignorable, '');
}

/**
 * Returns text as a reader sees it after rendering: without HTML tags and Markdown emphasis, with entities decoded and
 * spelled-out words joined. Undefined if rendering changes nothing.
 */
export function renderedText(text: string): string | undefined {
  if (!mayBeMarkup.test(text)) return undefined;
  const rendered = text
    .replace(tag, (found) => (blocks.test(found) ? ' ' : ''))
    .replace(comment, ' ')
    .replace(entity, decoded)
    .replace(escaped, '$1')
    .replace(emphasis, '')
    .replace(spelledAt, '@')
    .replace(spelledDot, '.')
    .replace(spelledOut, (letters) => letters.replaceAll(' ', ''));
  return rendered === text ? undefined : rendered;
}
