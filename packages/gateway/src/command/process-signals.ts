import type { SignalSource } from '../stdio/signal-source.ts';

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals of this process that end it. */
export const processSignals: SignalSource = {
  listen(listener) {
    for (const signal of ending) process.on(signal, listener);
    return () => {
      for (const signal of ending) process.off(signal, listener);
    };
  },
};
