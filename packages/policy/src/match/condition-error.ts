/** Place of a problem in a condition. */
export interface ConditionErrorOptions extends ErrorOptions {
  /** The condition, from which the line and the column are counted. */
  readonly text?: string | undefined;
  /** Offset of the problem in the condition, in UTF-16 code units; undefined if it is unknown. */
  readonly offset?: number | undefined;
}

/** Error thrown for an invalid condition of a policy. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  /**
   * Description of the problem with its position and, if known, a fix: `message` without the field's name.
   */
  readonly problem: string;
  /** Description of the problem without its position. */
  readonly finding: string;
  /** Offset of the problem in the condition, in UTF-16 code units; undefined if it is unknown. */
  readonly offset: number | undefined;

  /** Sets `cause` to the parser's error if the parser rejected the condition. */
  constructor(finding: string, { text = '', offset, ...options }: ConditionErrorOptions = {}) {
    const problem = finding + positionIn(text, offset);
    super(`condition: ${problem}`, options);
    this.problem = problem;
    this.finding = finding;
    this.offset = offset;
  }
}

/** Formats a position in a condition as ` (line 1, column 15)`; returns an empty string if it is unknown. */
function positionIn(text: string, start: number | undefined): string {
  if (start === undefined) return '';
  const before = text.slice(0, start).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) as string).length + 1})`;
}
