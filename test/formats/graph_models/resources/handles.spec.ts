import * as tf from '@tensorflow/tfjs';
import {
  findObject,
  forget,
  handleFor,
  handlesFor,
  objectOfKind,
  objectsOfKind,
} from '../../../../src/formats/graph_models/resources/handles.js';
import { expectError } from '../../../helpers/errors.js';
import { expectNoLeak } from '../../../helpers/tensors.js';

class Shelf {}
class Drawer {}

describe('tensors that stand for objects', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  const tidily = (body: () => void) => (): void => expectNoLeak(() => tf.tidy(body));

  it(
    'stand for the objects that they were made for, in their shape',
    tidily(() => {
      const [first, second] = [new Shelf(), new Shelf()];
      const handles = handlesFor([first, second, first], [3, 1]);
      expect(handles.shape).toEqual([3, 1]);
      const found = objectsOfKind(handles, Shelf, 'shelves');
      expect(found.map((each) => [each === first, each === second])).toEqual([
        [true, false],
        [false, true],
        [true, false],
      ]);
      expect(objectOfKind(handleFor(second), Shelf)).toBe(second);
      [first, second].forEach(forget);
    }),
  );

  it(
    'are int32: numbers of another dtype stand for nothing, even where they are equal',
    tidily(() => {
      const shelf = new Shelf();
      const [handles, handle] = [handlesFor([shelf], [1]), handleFor(shelf)];
      expect(objectsOfKind(handles, Shelf, 'shelves')).toEqual([shelf]);
      expectError(() => objectsOfKind(handles.toFloat(), Shelf, 'shelves'), 'TypeError', 'shelves', 'another tensor');
      expect(findObject(handle, Shelf)).toBe(shelf);
      expect(findObject(handle.toFloat(), Shelf)).toBeNull();
      expect(findObject(handles, Shelf)).toBeNull();
      forget(shelf);
    }),
  );

  it(
    'stand for nothing of another kind, and for nothing once that is over',
    tidily(() => {
      const shelf = new Shelf();
      const handles = handlesFor([shelf], [1]);
      expectError(() => objectsOfKind(handles, Drawer, 'drawers'), 'TypeError', 'drawers', 'another tensor');
      expectError(() => objectOfKind(handleFor(shelf), Drawer), 'TypeError', 'handle', 'another tensor');
      forget(shelf);
      expectError(() => objectsOfKind(handles, Shelf, 'shelves'), 'TypeError', 'shelves', 'another tensor');
    }),
  );
});
