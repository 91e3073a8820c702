/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Value of `x-service-sdk` for events recorded without an adapter (specification, "Authentication"). */
export const sdkName = `@actlog/recorder/${version}`;
