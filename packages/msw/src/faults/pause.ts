/** Resolves after so many milliseconds of the timers that are there now, or when `signal` aborts. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}
