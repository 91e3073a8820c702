import * as z from 'zod';
import { limits } from '../limits.ts';
import { identifier, line, looseObject, strictObject } from './scalar.ts';

const origin = {
  /**
   * Source of the value: `user` (what the user said), `system` (the system prompt), `tool` (the result of an earlier call), `model` (none of these, so the model wrote it), `approver` (the approver changed it), or `unknown` (older text is no longer in the recorder's memory).
   */
  from: z.enum(['user', 'system', 'tool', 'model', 'approver', 'unknown']),
  /** Form of the value in the tool's result: `field` for a whole field, `text` for a part of running text. Only with `from: 'tool'`. */
  as: z.enum(['field', 'text']).optional(),
  /** Tool of the earlier call. Only with `from: 'tool'`. */
  toolName: identifier.optional(),
  /** Event of the earlier call. Only with `from: 'tool'`. */
  eventId: z.uuid().optional(),
} as const;

/** The fields of {@link argumentOrigin}. */
export type ArgumentOriginShape = { readonly [Field in keyof typeof origin]: (typeof origin)[Field] };

/** Fields that describe an earlier call, which only a value from a tool has. */
const ofTool = ['as', 'toolName', 'eventId'] as const;

/** Source of an argument's value. The value itself is never sent. */
export const argumentOrigin = strictObject<ArgumentOriginShape>(origin)
  .check(({ value, issues }) => {
    if (value.from === 'tool') return;
    for (const field of ofTool) {
      if (value[field] === undefined) continue;
      const message = `is only allowed with from "tool", got "${value.from}"`;
      issues.push({ code: 'custom', message, path: [field], input: value[field] });
    }
  })
  .meta({ id: 'ArgumentOrigin' });

/** Source of an argument's value as the service returns it. */
export const storedArgumentOrigin = looseObject<ArgumentOriginShape>(origin).meta({
  id: 'StoredArgumentOrigin',
});

/**
 * Sources of the values of a call, by argument path: keys joined with dots and without list indexes, such as `recipient`
 * or `address.city`. The elements of a list share one path.
 */
export const argumentOrigins = z
  .record(line(limits.maxArgumentPathLength), argumentOrigin)
  .refine(
    (origins) => Object.keys(origins).length <= limits.maxArgumentOrigins,
    `must have at most ${limits.maxArgumentOrigins} paths`,
  )
  .meta({ maxProperties: limits.maxArgumentOrigins });

/** Sources of the values of a call, by argument path, as the service returns them. */
export const storedArgumentOrigins = z.record(z.string(), storedArgumentOrigin);

/** Payload of category `argument_origins`, which a recorder sends for a `tool_api` event with something to report. */
export const argumentOriginsPayload = strictObject({
  /** UUID of the `tool_api` event that it is about. */
  eventId: z.uuid(),
  /** Name of the tool called. */
  toolName: identifier,
  /** Sources of the call's values, by argument path such as `address.city`. */
  origins: argumentOrigins,
  /** `true` if the recorder knows what the user said, so that a value without the origin `user` did not come from the user. */
  userText: z.boolean().optional(),
});

/** Source of an argument's value. */
export type ArgumentOrigin = z.output<typeof argumentOrigin>;
/** Sources of the values of a call, by argument path. */
export type ArgumentOrigins = z.output<typeof argumentOrigins>;
/** Payload of an `argument_origins` event. */
export type ArgumentOriginsPayload = z.output<typeof argumentOriginsPayload>;
