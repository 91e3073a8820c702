import { readWords } from './read-words.ts';
import { Words } from './words.ts';

/** Maximum length of a path; longer paths have no words. */
const maxLength = 200;
/** Maximum number of names whose words are kept. */
const maxNames = 1000;

const knownNames = new Map<string, readonly number[]>();
const nameBuffer = new Words();

/** Returns the hashes of the words of the last name of a path: `file` and `id` of `rows.fileId`. */
export function nameWords(path: string): readonly number[] {
  if (path.length > maxLength) return [];
  const known = knownNames.get(path);
  if (known !== undefined) return known;
  nameBuffer.count = 0;
  const name = path.slice(path.lastIndexOf('.') + 1);
  readWords(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2'), nameBuffer);
  const hashes = [...nameBuffer.hashes.subarray(0, nameBuffer.count)];
  if (knownNames.size >= maxNames) knownNames.clear();
  knownNames.set(path, hashes);
  return hashes;
}
