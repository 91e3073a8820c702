/** The version of this package; a test holds it equal to package.json. */
export const version = '0.0.0';

/** What `x-service-sdk` says of events that came through no adapter (specification, "Authentication"). */
export const sdkName = `@actlog/recorder/${version}`;
