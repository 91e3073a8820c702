import { processWide } from '@actlog/recorder/adapter';

const invalid = processWide('@actlog/anthropic/invalid-input', () => new WeakSet<object>());

/** Notes what a tool's `parse` threw, whichever library's error it is. */
export function noteInvalidInput(error: unknown): void {
  if (typeof error === 'object' && error !== null) invalid().add(error);
}

/** Whether an error came from a tool's `parse`. */
export function isInvalidInput(error: unknown): boolean {
  return typeof error === 'object' && error !== null && invalid().has(error);
}
