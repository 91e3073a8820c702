import { expect, test } from 'vitest';
import * as z from 'zod';
import { schemaProblem } from './argument-schema.ts';

const refund = z.object({ amount: z.number().max(500), order: z.object({ id: z.string() }) });
const valid = { amount: 400, order: { id: 'o-1' } };
const noPermission = 'the schema of the tool does not permit them';

/** A schema as the AI SDK makes it of JSON Schema. */
const ofAiSdk = {
  validate: async (value: unknown) => ({ success: (value as { ok?: boolean }).ok === true }),
};

test.each([
  [refund, valid],
  [() => refund, valid],
  [ofAiSdk, { ok: true }],
  [undefined, { anything: 1 }],
  [{ type: 'object' }, { anything: 1 }],
])(
  'permits arguments that a schema permits, and does without one that cannot validate',
  async (schema, args) => {
    expect(await schemaProblem(schema, args)).toBeUndefined();
  },
);

test.each([
  [refund, { ...valid, amount: 900 }, `${noPermission} (at amount)`],
  [() => refund, { ...valid, order: { id: 7 } }, `${noPermission} (at order.id)`],
  [refund, 'secret', noPermission],
  [ofAiSdk, { ok: false }, noPermission],
  [
    z.string().transform(() => {
      throw new Error('secret');
    }),
    'secret',
    'the schema of the tool could not validate them',
  ],
])(
  'names the place, and no value, of arguments that a schema refuses: %#',
  async (schema, args, expected) => {
    expect(await schemaProblem(schema, args)).toBe(expected);
  },
);
