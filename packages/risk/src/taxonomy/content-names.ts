import { words } from './tokens.ts';

/** Words that name the content of a message or a document, rather than what an action is aimed at. */
const contentWords = new Set(
  'abstract answer body caption comment comments content contents description detail details document draft html instructions markdown memo message note notes paragraph prompt reason remark reply snippet subject summary text title transcript'.split(
    ' ',
  ),
);

const maxRemembered = 4096;
const remembered = new Map<string, boolean>();

/**
 * Returns `true` if an argument is content, such as the body of a mail, by the last word of its path. Other arguments
 * say what an action is aimed at: a recipient, an amount, a file.
 */
export function isContentName(path: string): boolean {
  const known = remembered.get(path);
  if (known !== undefined) return known;
  const isContent = contentWords.has(words(path.slice(-200)).at(-1) ?? '');
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(path, isContent);
  return isContent;
}
