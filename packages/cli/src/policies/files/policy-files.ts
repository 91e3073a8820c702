import type { PolicyCreate } from '@actlog/protocol';
import { ExitCodeError } from '../../errors/exit-code-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { FileTest } from './policies-file.ts';
import { type Position, positionText } from './position.ts';

/** A policy or a test with its place. */
export interface Placed {
  readonly position: Position;
  /** Returns the position of a field, by its path such as `['match', 'tools', 0]`, or of a character of its text. */
  positionOf(path: readonly PropertyKey[], offset?: number): Position;
}

/** A policy of a file. */
export interface PlacedPolicy extends Placed {
  readonly policy: PolicyCreate;
}

/** A test of a file. */
export interface PlacedTest extends Placed {
  readonly test: FileTest;
}

/** Content of policy files. */
export interface PolicyFiles {
  /** Policies in the order of the files; their names are unique. */
  readonly policies: readonly PlacedPolicy[];
  readonly tests: readonly PlacedTest[];
}

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
