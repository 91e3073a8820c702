import { expect, test } from 'vitest';
import { Recorder } from '../recorder.ts';
import {
  isUnhookedCall,
  takeHookedCall,
  takeUnhookedCall,
  trackHookedCall,
  trackUnhookedCall,
} from './hooked-calls.ts';

const call = { toolName: 'search', callId: 'call_1' };

test('recognizes a call by id and tool, once', () => {
  const recorder = {};
  trackHookedCall(recorder, call);
  expect(takeHookedCall(recorder, { ...call, toolName: 'other' })).toBe(false);
  expect(takeHookedCall({}, call)).toBe(false);
  expect(takeHookedCall(recorder, call)).toBe(true);
  expect(takeHookedCall(recorder, call)).toBe(false);
});

test('recognizes both of two concurrent calls with the same id', () => {
  const recorder = {};
  trackHookedCall(recorder, call);
  trackHookedCall(recorder, call);
  expect(takeHookedCall(recorder, call)).toBe(true);
  expect(takeHookedCall(recorder, call)).toBe(true);
  expect(takeHookedCall(recorder, call)).toBe(false);
});

test('counts a call once if the adapter is installed twice', async () => {
  const recorder = new Recorder({
    baseURL: 'http://127.0.0.1:9',
    apiKey: 'al_test_nobody',
    spool: false,
    onDrop: () => {},
  });
  trackHookedCall(recorder, call);
  await recorder.toolCall({ ...call, arguments: {} }, () => trackHookedCall(recorder, call));
  expect(takeHookedCall(recorder, call)).toBe(true);
  expect(takeHookedCall(recorder, call)).toBe(false);
  await recorder.close({ timeoutMs: 0 });
});

test('recognizes calls recorded by a generic hook, once per call', () => {
  const recorder = {};
  trackUnhookedCall(recorder, call);
  trackUnhookedCall(recorder, call);
  expect(isUnhookedCall(recorder, call)).toBe(true);
  expect(takeHookedCall(recorder, call)).toBe(false);
  expect(takeUnhookedCall(recorder, call)).toBe(true);
  expect(takeUnhookedCall(recorder, call)).toBe(true);
  expect(takeUnhookedCall(recorder, call)).toBe(false);
  expect(isUnhookedCall(recorder, call)).toBe(false);
});

test('ignores calls without an id', () => {
  const recorder = {};
  trackHookedCall(recorder, { toolName: 'search' });
  expect(takeHookedCall(recorder, { toolName: 'search' })).toBe(false);
});

test('forgets the oldest of many', () => {
  const recorder = {};
  for (let n = 0; n <= 2000; n += 1) trackHookedCall(recorder, { toolName: 'search', callId: `call_${n}` });
  expect(takeHookedCall(recorder, { toolName: 'search', callId: 'call_1000' })).toBe(false);
  expect(takeHookedCall(recorder, { toolName: 'search', callId: 'call_1001' })).toBe(true);
});
