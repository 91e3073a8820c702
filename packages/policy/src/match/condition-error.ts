/** Error thrown for an invalid condition of a policy. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  /**
   * Description of the problem with its position and, if known, a fix: `message` without the field's name.
   */
  readonly problem: string;

  /** Sets `cause` to the parser's error if the parser rejected the condition. */
  constructor(problem: string, options?: ErrorOptions) {
    super(`condition: ${problem}`, options);
    this.problem = problem;
  }
}
