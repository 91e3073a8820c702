import { Socket } from 'node:net';
import { type MockInstance, vi } from 'vitest';

/** Monitors and blocks every connection that the process tries to open. */
export function watchNetwork(): MockInstance<Socket['connect']> {
  return vi.spyOn(Socket.prototype, 'connect').mockImplementation(() => {
    throw new Error('a connection was opened');
  });
}
