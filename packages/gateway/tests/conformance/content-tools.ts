import { pixelPng, silentWav } from './sample-media.ts';
import { type ConformanceTool, noArguments, textResult } from './tool.ts';

const image = { type: 'image', data: pixelPng, mimeType: 'image/png' } as const;

/** Tools with one kind of content each, and one with several. */
export const contentTools: readonly ConformanceTool[] = [
  {
    name: 'test_simple_text',
    description: 'Returns a text.',
    inputSchema: noArguments,
    run: async () => textResult('A simple text.'),
  },
  {
    name: 'test_image_content',
    description: 'Returns an image.',
    inputSchema: noArguments,
    run: async () => ({ content: [image] }),
  },
  {
    name: 'test_audio_content',
    description: 'Returns a recording.',
    inputSchema: noArguments,
    run: async () => ({ content: [{ type: 'audio', data: silentWav, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Returns a resource.',
    inputSchema: noArguments,
    run: async () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'An embedded resource.',
          },
        },
      ],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Returns a text, an image and a resource.',
    inputSchema: noArguments,
    run: async () => ({
      content: [
        { type: 'text', text: 'Several kinds of content:' },
        image,
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"value":123}',
          },
        },
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails.',
    inputSchema: noArguments,
    run: async () => ({ isError: true, content: [{ type: 'text', text: 'The tool fails on purpose.' }] }),
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has keywords of JSON Schema 2020-12 in its input schema.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    run: async (args) => textResult(`Hello, ${args.name}.`),
  },
];
