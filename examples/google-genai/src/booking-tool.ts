import type { CallableTool } from '@google/genai';

type Arguments = Record<string, unknown>;

const functions: Readonly<Record<string, (args: Arguments) => unknown>> = {
  find_booking: ({ guest }) => ({ id: 'b-12', guest, date: '2026-12-01' }),
  read_card: () => ({ number: '4000 0000 0000 0002' }),
  move_booking: ({ id, to }) => `booking ${id} is now on ${to}`,
};

/** The functions of a hotel's booking system, which the SDK runs for the model. */
export const bookings: CallableTool = {
  tool: async () => ({
    functionDeclarations: Object.keys(functions).map((name) => ({
      name,
      parametersJsonSchema: { type: 'object', additionalProperties: { type: 'string' } },
    })),
  }),
  callTool: async (calls) =>
    calls.map(({ name = '', args = {} }) => ({
      functionResponse: { name, response: { output: functions[name]?.(args) } },
    })),
};
