import { type ApiResponse, isObject, succeeded } from '../http/api-response.ts';

/** Maximum number of strings that are tried as an identifier. */
const triedTexts = 6;

/** Ranks a member name by its likelihood to be the record's identifier; lower is likelier. */
function rank(name: string): number {
  if (name === 'id') return 0;
  if (/(^_?|[a-z_-])id$/i.test(name)) return 1;
  return /uuid|key|slug|arn/i.test(name) ? 2 : 3;
}

/**
 * Returns the strings of a record that may be its identifier, likeliest first. The specification says that a record has
 * an identifier, but not its name.
 */
export function identifierCandidates(response: ApiResponse): string[] {
  const { json } = response;
  if (!isObject(json)) return [];
  const members = [json, ...Object.values(json).filter(isObject)]
    .flatMap((object) => Object.entries(object))
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .filter(([, text]) => text.length > 0 && text.length <= 200)
    .sort(([left], [right]) => rank(left) - rank(right))
    .map(([, text]) => text);
  return [...new Set([...locationEnd(response), ...members])].slice(0, triedTexts);
}

/** Returns the last path segment of `Location` (RFC 9110, section 10.2.2), if it is valid. */
function locationEnd({ headers }: ApiResponse): string[] {
  const end = headers.get('location')?.split('/').pop() ?? '';
  try {
    return end === '' ? [] : [decodeURIComponent(end)];
  } catch {
    return [];
  }
}

/** Returns the first candidate with which `read` finds a record. */
export async function identifierThatReads(
  response: ApiResponse,
  read: (id: string) => Promise<ApiResponse>,
): Promise<string | undefined> {
  for (const id of identifierCandidates(response)) {
    if (succeeded(await read(id))) return id;
  }
  return undefined;
}
