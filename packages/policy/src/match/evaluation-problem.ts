/** Maximum length of an evaluation error within a reason, in characters. */
const longestProblem = 200;

/** Characters that reorder, hide or break text. An error can quote a value that the model controls. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the first line of an error, truncated: later lines quote the condition, and long texts come from
 * the action.
 */
export function evaluationProblem(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n', 1);
  const line = first.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return line.length > longestProblem ? `${line.slice(0, longestProblem)}…` : line;
}
