import type { GenerateRequest, GenerateResponseData, ToolRequestPart } from 'genkit';

/** Returns the requests of unknown tools, on which Genkit fails the whole generation before any tool hook. */
export function unknownToolRequests(
  request: GenerateRequest,
  response: GenerateResponseData,
): ToolRequestPart[] {
  const known = new Set(request.tools?.map(({ name }) => name));
  return (response.message?.content ?? []).filter(
    (part): part is ToolRequestPart => part.toolRequest !== undefined && !known.has(part.toolRequest.name),
  );
}
