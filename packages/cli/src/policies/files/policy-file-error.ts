import { ExitCodeError } from '../../errors/exit-code-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type Position, positionText } from './position.ts';

/** A problem in a policy file. */
export interface FileProblem {
  readonly position: Position;
  /** Description that contains no value of the file. */
  readonly message: string;
}

/** Maximum number of problems in a message. */
const maxProblems = 20;

/** Error thrown when policy files are invalid. Its message has a line for each problem. */
export class PolicyFileError extends ExitCodeError {
  override readonly name = 'PolicyFileError';

  constructor(problems: readonly FileProblem[]) {
    const lines = problems.slice(0, maxProblems).map(problemText);
    const rest = problems.length - lines.length;
    if (rest > 0) lines.push(`… and ${rest} more`);
    const text =
      lines.length === 1 ? lines.join() : ['The policy files have problems:', ...lines].join('\n  ');
    super(text, exitCodes.usage);
  }
}

/** Formats a problem as `file:line:column: message`. */
function problemText({ position, message }: FileProblem): string {
  return `${positionText(position)}: ${message}`;
}
