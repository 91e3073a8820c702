import { type Method, noteTexts } from '@actlog/recorder/adapter';
import { processCoverage } from './coverage.ts';
import { hookedMethods } from './hooked-methods.ts';
import { noteRequestedCalls } from './requested-calls.ts';
import { conversationOf, currentRun, nodeMessages } from './run-context.ts';
import { contentsOf } from './shown-texts.ts';

/** Hooks models, which see the system prompt, and the conversation of a loop that the application writes. */
export function hookModels(prototype: object): void {
  hookedMethods.hook(prototype as Record<string, Method>, 'invoke', async (model: object, invoke, args) => {
    noteSystemPrompt(args[0]);
    const response = await invoke.apply(model, args);
    const calls = processCoverage.current;
    if (calls) noteRequestedCalls(calls, args[0], response);
    return response;
  });
}

function noteSystemPrompt(input: unknown): void {
  const calls = processCoverage.current;
  if (!calls?.tracesOrigins) return;
  noteTexts(calls, () => {
    const run = currentRun();
    const system = contentsOf(input, 'system');
    return { sessionId: conversationOf(run, nodeMessages(run), calls), system };
  });
}
