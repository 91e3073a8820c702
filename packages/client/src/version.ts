/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Value of the `x-service-sdk` header (specification, "Authentication"). */
export const sdkName = `@actlog/client/${version}`;
