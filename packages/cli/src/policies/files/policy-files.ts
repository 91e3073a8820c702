import type { PolicyCreate } from '@actlog/protocol';
import { ExitCodeError } from '../../errors/usage-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { FileTest } from './policies-file.ts';

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
  /** `true` if it runs against the policies of its file alone, as if all were enforced. */
  readonly isAlone: boolean;
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

/** Place in a file, for editors and terminals. Lines and columns start at 1. */
export interface Position {
  /** Path of the file as the user named it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Formats a position as `file:line:column`, which terminals and editors open. */
export function positionText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}
