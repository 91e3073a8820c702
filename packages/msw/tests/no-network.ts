import { Socket } from 'node:net';
import { type MockInstance, vi } from 'vitest';

/** Watches every connection that anything in the process tries to open, and lets none through. */
export function watchNetwork(): MockInstance<Socket['connect']> {
  return vi.spyOn(Socket.prototype, 'connect').mockImplementation(() => {
    throw new Error('a connection was opened');
  });
}
