import { processWide } from '@actlog/recorder/adapter';

const invalid = processWide('@actlog/anthropic/invalid-input', () => new WeakSet<object>());

/** Notes an error thrown by a tool's `parse`, from any library. */
export function noteInvalidInput(error: unknown): void {
  if (typeof error === 'object' && error !== null) invalid().add(error);
}

/** Returns `true` if an error was thrown by a tool's `parse`. */
export function isInvalidInput(error: unknown): boolean {
  return typeof error === 'object' && error !== null && invalid().has(error);
}
