import { nameParts, words } from '../taxonomy/tokens.ts';
import { isKnownWord } from '../taxonomy/tool-profile.ts';

// Letters of other scripts that look like Latin ones (a selection of Unicode's confusables, UTS #39).
const looksLike = new Map(
  Object.entries({
    а: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    ғ: 'f',
    ɡ: 'g',
    һ: 'h',
    і: 'i',
    ј: 'j',
    к: 'k',
    ӏ: 'l',
    м: 'm',
    п: 'n',
    о: 'o',
    р: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    т: 't',
    и: 'u',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    у: 'y',
    α: 'a',
    β: 'b',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ı: 'i',
    ƨ: 's',
    ո: 'n',
    օ: 'o',
    ս: 'u',
  }),
);
const invisible = /[\p{Cf}\p{Cc}\p{Mn}]/u;
// Vowel signs and joiners that scripts other than Latin are written with.
const writtenWithMarks = /(?!\p{Script=Latin})\p{L}[\p{Mn}\p{Mc}\u200C\u200D]+/gu;
// An emoji may consist of several characters, some of them invisible.
const picture = /\p{RGI_Emoji}/gv;
const latin = /\p{Script=Latin}/u;
const cherokee = /\p{Script=Cherokee}/u;
const plain = /^[\x20-\x7E]*$/;
// Scripts in which a letter is a small part of a word.
const oneLetterOfMany = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]*$/u;
const shortestCompared = 6;
const mostEdits = 2;

/** Normalizes a name by appearance: look-alike letters become Latin, width and case are folded. */
export function appearance(name: string): string {
  let folded = '';
  for (const character of name.normalize('NFKC').toLowerCase())
    folded += looksLike.get(character) ?? character;
  return folded.replace(/\p{Cf}/gu, '');
}

function looksLatin(letter: string): boolean {
  return cherokee.test(letter) || (looksLike.has(letter) && !latin.test(letter));
}

/** `true` if a name is deceptive: a word mixes scripts that look alike or contains invisible characters. */
export function isDeceptive(name: string): boolean {
  if (plain.test(name)) return false;
  const written = name.normalize('NFC').replace(picture, '').replace(writtenWithMarks, '');
  if (invisible.test(written)) return true;
  return words(name).some((word) => latin.test(word) && [...word].some(looksLatin));
}

/**
 * Returns the number of edits (insert, delete, replace, swap of neighbors) between two strings; at most
 * `limit` + 1.
 */
export function editsBetween(a: string, b: string, limit = mostEdits): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let edits = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        edits = Math.min(edits, (older[column - 2] as number) + 1);
      }
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > limit) return limit + 1;
    older = previous;
    previous = current;
  }
  return previous[b.length] as number;
}

/** Removes the number at the end of a word: "db2" becomes "db", and "v2" or "2" becomes empty. */
function withoutNumber(word: string): string {
  return word.replace(/^v?\d+$|\d+$/, '');
}

/**
 * `true` if a new name is a near misspelling of a known one: "send_emial" for "send_email", but not "list_files" for
 * "list_file", in which all words are known.
 */
export function resembles(name: string, known: string): boolean {
  const [mine, theirs] = [nameParts(name).base, nameParts(known).base];
  if (mine === theirs || mine.length < shortestCompared || theirs.length < shortestCompared) return false;
  const [a, b] = [words(mine), words(theirs)];
  const spelled = a.join('');
  if (spelled === b.join('')) return false;
  if (!oneLetterOfMany.test(spelled)) return false;
  const theirWords = new Set(b.map(withoutNumber));
  const strange = a.map(withoutNumber).filter((word) => word !== '' && !theirWords.has(word));
  if (strange.every(isKnownWord)) return false;
  return editsBetween(spelled, b.join('')) <= mostEdits;
}
