import { type Answer, isObject, succeeded } from '../http/answer.ts';

/** Texts of a record that are tried as its identifier. */
const triedTexts = 6;

/** How likely a member of this name is the record's identifier; the smaller, the likelier. */
function rank(name: string): number {
  if (name === 'id') return 0;
  if (/(^_?|[a-z_-])id$/i.test(name)) return 1;
  return /uuid|key|slug|arn/i.test(name) ? 2 : 3;
}

/**
 * The texts of a record that may be its identifier, the likeliest first. The specification says that a record has an
 * identifier, not what it is called.
 */
export function identifierCandidates(answer: Answer): string[] {
  const { json } = answer;
  if (!isObject(json)) return [];
  const members = [json, ...Object.values(json).filter(isObject)]
    .flatMap((object) => Object.entries(object))
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .filter(([, text]) => text.length > 0 && text.length <= 200)
    .sort(([left], [right]) => rank(left) - rank(right))
    .map(([, text]) => text);
  return [...new Set([...locationEnd(answer), ...members])].slice(0, triedTexts);
}

/** The last part of the path in `Location` (RFC 9110, section 10.2.2), where there is one that can be read. */
function locationEnd({ headers }: Answer): string[] {
  const end = headers.get('location')?.split('/').pop() ?? '';
  try {
    return end === '' ? [] : [decodeURIComponent(end)];
  } catch {
    return [];
  }
}

/** The first text that `read` finds a record under. */
export async function identifierThatReads(
  answer: Answer,
  read: (id: string) => Promise<Answer>,
): Promise<string | undefined> {
  for (const id of identifierCandidates(answer)) {
    if (succeeded(await read(id))) return id;
  }
  return undefined;
}
