import { type AdapterCalls, type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import {
  type AfterToolCallEvent,
  type BeforeInvocationEvent,
  type BeforeModelCallEvent,
  type BeforeToolCallEvent,
  InterventionActions,
  InterventionHandler,
} from '@strands-agents/sdk';
import { noteChatMessages } from './agent-chats.ts';
import { beginConversation } from './agent-identity.ts';
import { recordChosenTool } from './chosen-tool.ts';
import { coverAgentOf, interventionCalls, noteCovered } from './covered-agents.ts';
import { beginRun, endOfRun } from './denied-runs.ts';
import { recordUnrun } from './finished-call.ts';
import { hookStrands } from './hooks.ts';
import { noteAgentTexts } from './shown-texts.ts';
import { strandsCalls } from './strands-calls.ts';

/** Creates the intervention behind `actlog()`. */
export function recordIntervention(options: AdapterOptions = {}): InterventionHandler {
  return new RecordIntervention(options);
}

/**
 * Records a call when its tool runs, and others from Strands' report. The guard checks the call just before the tool
 * runs, when other interventions have finished and the arguments are final.
 */
class RecordIntervention extends InterventionHandler {
  /** Unique name, because Strands rejects two interventions with the same name, and an agent with two should work. */
  override readonly name = ownName('strands');
  readonly [interventionCalls]: AdapterCalls;

  constructor(options: AdapterOptions) {
    super();
    this[interventionCalls] = strandsCalls(options);
    hookStrands();
  }

  override beforeInvocation({ agent }: BeforeInvocationEvent) {
    noteCovered(agent, this[interventionCalls]);
    beginRun(agent);
    beginConversation(agent);
    noteAgentTexts(agent, this[interventionCalls]);
    return InterventionActions.proceed();
  }

  /** Strands has no default limit on turns: a model that repeats a denied call would be called forever. */
  override beforeModelCall({ agent }: BeforeModelCallEvent) {
    noteChatMessages(agent);
    const reason = endOfRun(agent);
    return reason === undefined ? InterventionActions.proceed() : InterventionActions.deny(reason);
  }

  override beforeToolCall(event: BeforeToolCallEvent) {
    recordChosenTool(event, this[interventionCalls], { coverAgentOf });
    return InterventionActions.proceed();
  }

  override afterToolCall(event: AfterToolCallEvent) {
    recordUnrun(event, this[interventionCalls]);
    return InterventionActions.proceed();
  }
}
