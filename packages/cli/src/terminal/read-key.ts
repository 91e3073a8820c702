import { emitKeypressEvents, type Key } from 'node:readline';

/**
 * Reads one key press from the terminal, without Enter. The terminal has its usual mode again afterwards.
 *
 * @returns the character of the key, `ctrl+c`, or `undefined` when the signal was aborted or the input ended
 */
export function readKey(signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const end = (key: string | undefined) => {
      stdin.off('keypress', onKey);
      stdin.off('end', onAbort);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(key);
    };
    const onAbort = () => end(undefined);
    const onKey = (text: string | undefined, { name, ctrl }: Key) => {
      if (ctrl && name === 'c') end('ctrl+c');
      else if (text !== undefined && !ctrl) end(text.toLowerCase());
    };
    if (signal.aborted) return resolve(undefined);
    emitKeypressEvents(stdin);
    stdin.on('keypress', onKey);
    stdin.once('end', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    stdin.setRawMode(true);
    stdin.resume();
  });
}
