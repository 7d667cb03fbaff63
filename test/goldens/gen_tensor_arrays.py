"""
Programs over TensorArrays, run by the V3 kernels of real TensorFlow, with what they gave or how they failed.

    PYTHONPATH=<a folder with tensorflow 2.21> python3 test/goldens/gen_tensor_arrays.py

A program is a list of steps, run one after the other; `out` in a step names what it returns.
"""
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()
R = tf.raw_ops
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"float32": tf.float32, "int32": tf.int32, "bool": tf.bool, "complex64": tf.complex64, "float64": tf.float64}


class Machine:
    """Runs the steps of one program as ops of one graph, each after the one before."""

    def __init__(self):
        self.arrays, self.results, self.last = {}, {}, []

    def flow(self, name):
        return tf.identity(self.arrays[name][1])

    def constant(self, value, dtype="float32"):
        if dtype == "complex64":
            value = np.array(value, np.float32)
            return tf.constant(value[..., 0] + 1j * value[..., 1], tf.complex64)
        return tf.constant(value, DTYPES[dtype])

    def new(self, array, size, dtype="float32", **args):
        defaults = {
            "element_shape": None,
            "dynamic_size": False,
            "clear_after_read": True,
            "identical_element_shapes": False,
        }
        handle, flow = R.TensorArrayV3(size=size, dtype=DTYPES[dtype], tensor_array_name="ta", **{**defaults, **args})
        self.arrays[array] = [handle, flow, DTYPES[dtype]]
        return flow

    def grad(self, array, of, source, prepend=None):
        handle, flow, dtype = self.arrays[of]
        if prepend is None:
            handle, flow = R.TensorArrayGradV3(handle=handle, flow_in=self.flow(of), source=source)
        else:
            handle, flow = R.TensorArrayGradWithShape(
                handle=handle, flow_in=self.flow(of), shape_to_prepend=tf.constant(prepend, tf.int32), source=source
            )
        self.arrays[array] = [handle, flow, dtype]
        return flow

    def wrote(self, array, flow):
        self.arrays[array][1] = flow
        return flow

    def write(self, array, index, value, dtype="float32"):
        handle = self.arrays[array][0]
        value = self.constant(value, dtype)
        return self.wrote(
            array, R.TensorArrayWriteV3(handle=handle, index=index, value=value, flow_in=self.flow(array))
        )

    def scatter(self, array, indices, value):
        handle = self.arrays[array][0]
        args = {"indices": tf.constant(indices, tf.int32), "value": self.constant(value)}
        return self.wrote(array, R.TensorArrayScatterV3(handle=handle, flow_in=self.flow(array), **args))

    def split(self, array, value, lengths):
        handle = self.arrays[array][0]
        args = {"value": self.constant(value), "lengths": tf.constant(lengths, tf.int64)}
        return self.wrote(array, R.TensorArraySplitV3(handle=handle, flow_in=self.flow(array), **args))

    def read(self, array, index, out=None, dtype=None):
        handle, _, own = self.arrays[array]
        dtype = DTYPES[dtype] if dtype else own
        return self.give(out, R.TensorArrayReadV3(handle=handle, index=index, flow_in=self.flow(array), dtype=dtype))

    def gather(self, array, indices, out=None, element_shape=None):
        handle, _, dtype = self.arrays[array]
        args = {"indices": tf.constant(indices, tf.int32), "dtype": dtype, "element_shape": element_shape}
        return self.give(out, R.TensorArrayGatherV3(handle=handle, flow_in=self.flow(array), **args))

    def concat(self, array, out=None):
        handle, _, dtype = self.arrays[array]
        value, lengths = R.TensorArrayConcatV3(
            handle=handle, flow_in=self.flow(array), dtype=dtype, element_shape_except0=None
        )
        self.give(f"{out}.lengths", lengths)
        return self.give(out, value)

    def size(self, array, out):
        return self.give(out, R.TensorArraySizeV3(handle=self.arrays[array][0], flow_in=self.flow(array)))

    def close(self, array):
        return R.TensorArrayCloseV3(handle=self.arrays[array][0])

    def flow_value(self, array, out):
        return self.give(out, self.flow(array))

    def give(self, out, tensor):
        if out is not None:
            self.results[out] = tensor
        return tensor

    def step(self, op, args):
        with tf.control_dependencies(self.last):
            done = getattr(self, op)(**args)
        self.last = [done]


def plain(value):
    value = np.asarray(value)
    shape = list(value.shape)
    if np.iscomplexobj(value):
        value = np.stack([value.real, value.imag], -1)
    return {"shape": shape, "values": value.reshape(-1).astype(float).tolist()}


def run(program):
    # The optimizer would answer for some kernels, the size of a closed array for one.
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), v1.Session(config=config) as session:
        machine = Machine()
        try:
            for op, args in program:
                machine.step(op, args)
            values = session.run({**machine.results, "": machine.last[0]})
            return {"results": {name: plain(value) for name, value in values.items() if name}}
        except (ValueError, tf.errors.OpError) as error:
            return {"error": type(error).__name__}


CASES = []


def apart(program):
    """Runs a program in a process of its own: some abort TensorFlow. None: this one does."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(run(program)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def case(name, *steps):
    program = [[op, args] for op, args in steps]
    outcome = apart(program)
    if outcome is None:
        print(name, "| aborts TensorFlow, left out", flush=True)
        return
    CASES.append({"name": name, "program": program, **outcome})
    print(name, "|", json.dumps(CASES[-1].get("results", CASES[-1].get("error")))[:150], flush=True)


def new(size, **args):
    return ("new", {"array": "ta", "size": size, **args})


def write(index, value, array="ta", **args):
    return ("write", {"array": array, "index": index, "value": value, **args})


def read(index, out=None, array="ta", **args):
    return ("read", {"array": array, "index": index, "out": out, **args})


def grad(array="g", of="ta", source="gradients", **args):
    return ("grad", {"array": array, "of": of, "source": source, **args})


def size(out, array="ta"):
    return ("size", {"array": array, "out": out})


def step(op, array="ta", **args):
    return (op, {"array": array, **args})


KEEP = {"clear_after_read": False}

# What an array of gradients does.
case("grad accumulates repeated writes to one index", new(3, **KEEP), write(0, [1, 2]), write(1, [3, 4]),
     write(2, [5, 6]), grad(), write(0, [10, 20], "g"), write(0, [1, 1], "g"), write(0, [0.5, 0.5], "g"),
     write(2, [7, 7], "g"), read(0, "g0", "g"), read(2, "g2", "g"), size("size", "g"))
case("unwritten grad element reads zeros with the forward element's shape", new(2, **KEEP), write(0, [[1, 2, 3]]),
     write(1, [4]), grad(), read(0, "g0", "g"), read(1, "g1", "g"))
case("grad element whose forward element was never written, element_shape unknown", new(2), write(0, [1]), grad(),
     read(1, "g1", "g"))
case("grad element whose forward element was never written, element_shape known", new(2, element_shape=[2]),
     write(0, [1, 2]), grad(), read(1, "g1", "g"))
case("grad element of a partly known element_shape", new(2, element_shape=[None, 2]), write(0, [[1, 2]]), grad(),
     read(1, "g1", "g"))
case("same source looked up again shares one accumulator", new(1, **KEEP), write(0, [1, 1]), grad(),
     write(0, [2, 3], "g"), grad("g2"), write(0, [10, 10], "g2"), grad("g3"), read(0, "third", "g3"))
case("different source gives a separate accumulator", new(1, **KEEP), write(0, [1, 1]), grad(), write(0, [2, 3], "g"),
     grad("g2", source="gradients_1"), read(0, "first", "g"), read(0, "second", "g2"))
case("dynamic forward array: grad takes the size at call time", new(1, dynamic_size=True), write(0, [1]), write(3, [2]),
     grad(), size("forward"), size("gradient", "g"))
case("writing past the end after grad was taken", new(1, dynamic_size=True), write(0, [1]), grad(), write(1, [2]))
case("writing inside the locked size after grad", new(2, dynamic_size=True), write(0, [1]), grad(), write(1, [2]),
     read(1, "inside"))
case("writing to the forward array after grad leaves the gradient's shape unknown", new(2), write(0, [1]), grad(),
     write(1, [2]), read(1, "g1", "g"))
case("grad array is never resizeable", new(1), write(0, [1, 1]), grad(), write(1, [1, 1], "g"))
case("grad of a grad array", new(1), write(0, [1]), grad(), grad("gg", "g"))
case("grad of a closed array", new(1), write(0, [1]), step("close"), grad())
case("grad of a grad source that differs from the first", new(1), write(0, [1]), grad(),
     grad("g2", source="other"), write(0, [3], "g2"), read(0, "other", "g2"), read(0, "first", "g"))
case("aggregating a different shape", new(1), write(0, [1, 2]), grad(), write(0, [1], "g"))
case("aggregating a shape of another rank", new(1), write(0, [1, 2]), grad(), write(0, [[1, 2]], "g"))
case("grad array: second read", new(1), write(0, [1, 2]), grad(), write(0, [1, 1], "g"), read(0, None, "g"),
     read(0, None, "g"))
case("grad array: second read of zeros", new(1), write(0, [1, 2]), grad(), read(0, None, "g"), read(0, None, "g"))
case("grad array: write after read", new(1), write(0, [1, 2]), grad(), write(0, [1, 1], "g"), read(0, None, "g"),
     write(0, [1, 1], "g"))
case("grad array: a closed one is found again, closed", new(1), write(0, [1]), grad(), step("close", "g"), grad("g2"),
     write(0, [1], "g2"))
case("grad array of an array cleared by reads", new(2), write(0, [1, 2]), write(1, [3, 4]), read(0), grad(),
     read(0, "g0", "g"), read(1, "g1", "g"))
case("grad array: gather adds, scatter adds", new(3), step("scatter", indices=[0, 1, 2], value=[[1, 1], [2, 2], [3, 3]]),
     grad(), step("scatter", "g", indices=[2, 0], value=[[1, 2], [3, 4]]),
     step("scatter", "g", indices=[2], value=[[10, 20]]), step("gather", "g", indices=[0, 1, 2], out="all"))
case("grad array: concat", new(2), write(0, [[1], [2]]), write(1, [[3]]), grad(), write(1, [[5]], "g"),
     write(0, [[1], [1]], "g"), write(0, [[2], [3]], "g"), step("concat", "g", out="all"))
for dtype, values in {"float32": [3, 4, 5], "int32": [3, 4, 5], "complex64": [[3, 1], [4, 2], [5, 3]]}.items():
    case(f"grad array adds {dtype}", new(1, dtype=dtype), write(0, [values[0]], dtype=dtype), grad(),
         *[write(0, [value], "g", dtype=dtype) for value in values], read(0, "sum", "g"))
case("grad array does not add bool", new(1, dtype="bool"), write(0, [True], dtype="bool"), grad(),
     write(0, [True], "g", dtype="bool"), write(0, [True], "g", dtype="bool"), write(0, [True], "g", dtype="bool"))
case("GradWithShape prepends dims to every element shape", new(2, element_shape=[3]), write(0, [1, 2, 3]),
     grad(prepend=[2]), write(0, [[1, 1, 1], [1, 1, 1]], "g"), read(0, "g0", "g"), read(1, "g1", "g"))
case("GradWithShape adds values of the prepended shape", new(1, element_shape=[2]), write(0, [4, 5]), grad(prepend=[1]),
     write(0, [[4, 5]], "g"), write(0, [[2, 3]], "g"), read(0, "g0", "g"))
case("GradWithShape refuses the un-prepended shape", new(2, element_shape=[3]), write(0, [1, 2, 3]), grad(prepend=[2]),
     write(0, [1, 1, 1], "g"))
case("GradWithShape of an unknown element_shape stays unknown", new(2), write(0, [1, 2, 3]), grad(prepend=[2]),
     read(1, "g1", "g"))
case("GradWithShape copies the shapes of written elements", new(2), write(0, [1, 2, 3]), grad(prepend=[2]),
     read(0, "g0", "g"))
case("GradWithShape of no dimensions", new(1), write(0, [1, 2]), grad(prepend=[]), read(0, "g0", "g"))
case("GradWithShape needs a vector", new(1), write(0, [1]), grad(prepend=2))

# What an array of gradients does behind its end.
case("grad array: read past the end", new(1, element_shape=[2]), grad(), read(3, "zeros", "g"), size("size", "g"),
     size("forward"), read(1, "between", "g"))
case("grad array: read past the end, then writes at what that made", new(1, element_shape=[2], dynamic_size=True),
     write(0, [1, 1]), grad(), read(4, None, "g"), write(2, [5, 6], "g"), write(2, [1, 1], "g"), read(2, "sum", "g"))
case("grad array: write past what a read made", new(1, element_shape=[2]), grad(), read(2, None, "g"),
     write(3, [1, 1], "g"))
case("grad array: write of another shape at what a read made", new(1, element_shape=[2]), grad(), read(2, None, "g"),
     write(1, [1], "g"))
case("grad array: read past the end twice", new(1, element_shape=[2]), grad(), read(2, None, "g"), read(2, None, "g"))
case("grad array: read past the end of unknown shape", new(1), write(0, [1, 1]), grad(), read(1, None, "g"))
case("grad array: read past the end of partly known shape", new(1, element_shape=[None, 2]), write(0, [[1, 1]]),
     grad(), read(1, None, "g"))
case("grad array: read of a negative index", new(1, element_shape=[2]), grad(), read(-1, None, "g"))
case("grad array: gather past the end", new(2, element_shape=[2]), grad(), write(1, [3, 4], "g"),
     step("gather", "g", indices=[5, 1, 3], out="rows"), size("size", "g"))
case("grad array: concat after a read past the end", new(1, element_shape=[1]), grad(), write(0, [3], "g"),
     read(3, None, "g"), step("concat", "g", out="all"))
case("GradWithShape: read past the end", new(1, element_shape=[3]), grad(prepend=[2]), read(2, "zeros", "g"))
case("forward array: read past the end of a known shape", new(1, element_shape=[2], dynamic_size=True), read(1))

# What a forward array does.
case("forward double write", new(1), write(0, [1]), write(0, [2]))
case("second read with clear_after_read", new(1), write(0, [1]), read(0), read(0))
case("second read without clear_after_read", new(1, **KEEP), write(0, [1, 2]), read(0, "a"), read(0, "b"))
case("write after read", new(1, **KEEP), write(0, [1]), read(0), write(0, [1]))
case("write after a read of zeros", new(1, element_shape=[1], **KEEP), read(0, "zeros"), write(0, [1]))
case("negative size", new(-1))
case("size zero", new(0), size("size"))
case("read out of range", new(2), read(3))
case("read of a negative index", new(2), read(-1))
case("write out of range", new(2), write(2, [1]))
case("write to a negative index", new(2), write(-1, [1]))
case("write dtype mismatch", new(2), write(0, [1], dtype="int32"))
case("read dtype mismatch", new(2), write(0, [1]), read(0, dtype="float64"))
case("read of unwritten index", new(2), read(0))
case("read of unwritten index with a known element_shape", new(2, element_shape=[2]), read(0, "zeros"))
case("element_shape mismatch on write", new(2, element_shape=[3]), write(0, [1]))
case("partly known element_shape accepts what fits", new(2, element_shape=[None, 2]), write(0, [[1, 2]]),
     write(1, [[1, 2], [3, 4]]), read(1, "b"))
case("partly known element_shape refuses what does not", new(2, element_shape=[None, 2]), write(0, [[1, 2, 3]]))
case("identical_element_shapes takes the first shape", new(2, identical_element_shapes=True), write(0, [1, 2]),
     read(1, "zeros"))
case("identical_element_shapes refuses another shape", new(2, identical_element_shapes=True), write(0, [1, 2]),
     write(1, [1]))
case("identical_element_shapes completes a partly known shape", new(3, element_shape=[None, 2],
     identical_element_shapes=True), write(0, [[1, 2], [3, 4]]), read(1, "zeros"), step("gather", indices=[2], out="rows"))
case("identical_element_shapes completes a partly known shape, and refuses another", new(3, element_shape=[None, 2],
     identical_element_shapes=True), write(0, [[1, 2], [3, 4]]), write(1, [[5, 6]]))
case("identical_element_shapes refuses what a partly known shape denies", new(3, element_shape=[None, 2],
     identical_element_shapes=True), write(0, [[1, 2, 3]]))
case("identical_element_shapes of a partly known shape, in its gradients", new(2, element_shape=[None, 2],
     identical_element_shapes=True), write(0, [[1, 2], [3, 4]]), grad(), read(1, "zeros", "g"), read(3, "behind", "g"))
case("without identical_element_shapes a partly known shape stays", new(2, element_shape=[None, 2]),
     write(0, [[1, 2], [3, 4]]), read(1, "zeros"))
case("elements of different shapes", new(2), write(0, [1, 2]), write(1, 3), read(0, "a"), read(1, "b"))
case("use after close: read", new(1), write(0, [1]), step("close"), read(0))
case("use after close: write", new(1), step("close"), write(0, [1]))
case("use after close: size", new(1), step("close"), size("size"))
case("close twice", new(1), step("close"), step("close"))
case("dynamic array grows by writes", new(0, dynamic_size=True, element_shape=[1]), write(2, [5]), size("size"),
     step("gather", indices=[0, 1, 2], out="all"))
case("scatter wrong index count", new(2), step("scatter", indices=[0], value=[[1, 1], [1, 1]]))
case("scatter index too large", new(2), step("scatter", indices=[0, 5], value=[[1, 1], [1, 1]]))
case("scatter of a scalar", new(2), step("scatter", indices=[0], value=1))
case("scatter to one index twice", new(2), step("scatter", indices=[0, 0], value=[[1], [2]]))
case("scatter grows a dynamic array", new(1, dynamic_size=True), step("scatter", indices=[3, 0], value=[[1], [2]]),
     size("size"), read(3, "d"))
case("scatter of no rows", new(2), step("scatter", indices=[], value=np.zeros([0, 3]).tolist()), size("size"))
case("gather fixes the element shape", new(2), write(0, [1, 2]), step("gather", indices=[0], element_shape=[2]),
     read(1, "zeros"))
case("scatter leaves the element shape unknown", new(2), step("scatter", indices=[0], value=[[1, 2]]), read(1, "zeros"))
case("scatter of another element shape", new(2), step("scatter", indices=[0], value=[[1, 2]]), write(1, [1]))
case("scatter then gather in another order", new(3), step("scatter", indices=[2, 0, 1], value=[[1, 2], [3, 4], [5, 6]]),
     step("gather", indices=[1, 2, 0], out="rows"))
case("gather a row twice", new(2, **KEEP), step("scatter", indices=[0, 1], value=[[1], [2]]),
     step("gather", indices=[1, 1, 0], out="rows"))
case("gather a row twice with clear_after_read", new(2), step("scatter", indices=[0, 1], value=[[1], [2]]),
     step("gather", indices=[1, 1, 0], out="rows"))
case("gather inconsistent shapes", new(2), write(0, [1]), write(1, [1, 2]), step("gather", indices=[0, 1]))
case("gather zero elements, unknown shape", new(0), step("gather", indices=[]))
case("gather zero elements, known shape", new(0), step("gather", indices=[], out="x", element_shape=[2, 3]))
case("gather zero elements, partly known shape", new(0), step("gather", indices=[], element_shape=[None, 3]))
case("gather with a shape that does not fit", new(1), write(0, [1, 2]),
     step("gather", indices=[0], element_shape=[3]))
case("gather with a shape that the array denies", new(1, element_shape=[2]), write(0, [1, 2]),
     step("gather", indices=[0], element_shape=[3]))
case("gather an unwritten element of a known shape", new(2, element_shape=[2]), write(0, [1, 2]),
     step("gather", indices=[0, 1], out="rows"))
case("split lengths do not sum", new(2), step("split", value=[1, 1, 1], lengths=[1, 1]))
case("split count differs from size", new(2), step("split", value=[1, 1, 1], lengths=[1, 1, 1]))
case("split of a scalar", new(1), step("split", value=1, lengths=[1]))
case("split grows a dynamic array", new(0, dynamic_size=True), step("split", value=[1, 2, 3], lengths=[1, 2]),
     size("size"), read(1, "b"))
case("split with a zero length, then concat", new(3), step("split", value=[[0], [1], [2], [3], [4], [5]],
     lengths=[2, 0, 4]), step("concat", out="all"))
case("split over identical shapes", new(2, identical_element_shapes=True), step("split", value=[1, 2, 3], lengths=[1, 2]))
case("concat of scalars", new(1), write(0, 1), step("concat"))
case("concat of unlike rows", new(2), write(0, [[1, 2]]), write(1, [[1]]), step("concat"))
case("concat of different lengths", new(2), write(0, [[1, 2]]), write(1, [[3, 4], [5, 6]]), step("concat", out="all"))
case("concat of an empty array", new(0), step("concat"))
case("flow outputs are the scalar 0", new(1), write(0, [1]), step("flow_value", out="flow"), grad(),
     step("flow_value", "g", out="gradient's flow"))

with open(os.path.join(HERE, "tensor_arrays.json"), "w") as file:
    json.dump({"tensorflow": tf.__version__, "about": __doc__.strip().split("\n")[0], "cases": CASES}, file, indent=1)
    file.write("\n")
