/** A condition of a policy that cannot be taken. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  /** What is wrong, where in the text and, where there is one, the way out: `message` without the field's name. */
  readonly problem: string;

  /** `cause` is the parser's error, where it was the parser that refused. */
  constructor(problem: string, options?: ErrorOptions) {
    super(`condition cannot be taken: ${problem}`, options);
    this.problem = problem;
  }
}
