/** What a runtime cannot say; who catches it names the layer that wanted it. */
export class RefusedOp extends Error {}
