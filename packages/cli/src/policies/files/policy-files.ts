import type { PolicyCreate } from '@actlog/protocol';
import type { FileTest } from './policies-file.ts';
import type { Position } from './position.ts';

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
