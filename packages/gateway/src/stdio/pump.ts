import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../messages/line-splitter.ts';

/**
 * Reads a stream line by line, and pauses it while the stream that its lines go to is full. What comes after the last
 * line ending is passed on as a line when the stream ends.
 *
 * @param sink - stream that the lines go to; undefined if they go to several
 * @param take - receives each line with its line ending
 * @returns resolves when the stream has ended or is closed
 */
export function pump(
  source: Readable,
  sink: Writable | undefined,
  take: (line: Buffer) => void,
): Promise<void> {
  const lines = new LineSplitter();
  const { promise, resolve } = Promise.withResolvers<void>();
  source.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) take(line);
    if (!sink?.writableNeedDrain || sink.destroyed) return;
    source.pause();
    const resume = () => {
      sink.off('drain', resume);
      sink.off('close', resume);
      source.resume();
    };
    sink.once('drain', resume);
    sink.once('close', resume);
  });
  source.once('end', () => {
    const rest = lines.end();
    if (rest) take(rest);
  });
  source.once('error', () => resolve());
  source.once('close', () => resolve());
  source.once('end', () => resolve());
  return promise;
}
