import { expect, test } from 'vitest';
import { createRecorder } from '../../tests/test-recorder.ts';
import { AdapterCalls } from './adapter-calls.ts';
import { noteTexts, type ShownTexts } from './shown-texts.ts';

/** Creates calls that note the texts passed to them. */
function createCalls(origins: boolean) {
  const recorder = createRecorder('http://127.0.0.1:1', { origins });
  const calls = new AdapterCalls({ framework: 'test', sdk: '@example/test/1.0.0' }, { recorder });
  const noted: string[] = [];
  calls.noteText = (author, text, sessionId) => noted.push(`${sessionId} ${author}: ${text}`);
  return { calls, noted, recorder };
}

test('passes texts, and the texts among parts, with their author and session', () => {
  const { calls, noted } = createCalls(true);
  noteTexts(calls, () => ({
    sessionId: 's-1',
    user: ['one', [{ type: 'text', text: 'two' }, { type: 'image' }, 'three', null], undefined, 7],
    system: ['rules'],
  }));
  expect(noted).toEqual(['s-1 system: rules', 's-1 user: one', 's-1 user: two', 's-1 user: three']);
});

test('reads nothing while origins are off', () => {
  const { calls } = createCalls(false);
  let reads = 0;
  const read = (): ShownTexts => {
    reads += 1;
    return {};
  };
  noteTexts(calls, read);
  expect(reads).toBe(0);
});

test('passes nothing within a call of any recorder', async () => {
  const { calls, noted, recorder } = createCalls(true);
  const other = createCalls(true);
  await recorder.toolCall({ toolName: 'ask', arguments: {} }, () => {
    noteTexts(calls, () => ({ user: ['one'] }));
    noteTexts(other.calls, () => ({ system: ['two'] }));
  });
  expect([...noted, ...other.noted]).toEqual([]);
});

test('keeps errors of getters from the agent', () => {
  const { calls, noted } = createCalls(true);
  const broken = {
    get text(): string {
      throw new Error('gone');
    },
  };
  noteTexts(calls, () => ({ user: ['one', [broken], 'two'] }));
  expect(noted).toEqual(['undefined user: one']);
});
