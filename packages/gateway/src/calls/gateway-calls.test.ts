import { Recorder } from '@actlog/recorder';
import { expect, test } from 'vitest';
import { GatewayCalls } from './gateway-calls.ts';

test('refuses a guard that belongs to the recorder', () => {
  const recorder = new Recorder({
    apiKey: 'al_test_x',
    baseURL: 'http://127.0.0.1:9',
    spool: false,
    exitTimeoutMs: 0,
  });
  const guard = { mode: 'enforce', onUnavailable: 'deny' };
  expect(() => new GatewayCalls({ recorder, guard } as never)).toThrow(
    'guard has no effect here: pass it to the recorder, new Recorder({ guard }).',
  );
  expect(new GatewayCalls({ recorder }).isGuarding).toBe(false);
});
