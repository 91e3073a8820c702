/**
 * Functions for the records that a service returns: their identifiers, and events by category.
 *
 * @packageDocumentation
 */
export { idOf } from './records/id-of.ts';
export {
  type AgentMessageEvent,
  type ArgumentOriginsEvent,
  type GuardianDecisionEvent,
  isKnownEvent,
  isToolCall,
  type KnownEvent,
  type LlmCallEvent,
  type MemoryWriteEvent,
  type ToolCallEvent,
} from './records/known-event.ts';
