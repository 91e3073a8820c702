import type { IconNode } from 'lucide';

/** One entry of the command palette. */
export interface Command {
  /** Unique among the entries that are shown. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconNode;
  /** Keys that do the same. */
  readonly keys?: readonly string[];
  /** Risk of a session. */
  readonly risk?: { readonly score: number; readonly level: string } | null | undefined;
  readonly run: () => void;
}

/** Entries under one heading. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Returns a function that goes to a location. */
export function goTo(location: string): () => void {
  return () => {
    window.location.href = location;
  };
}
