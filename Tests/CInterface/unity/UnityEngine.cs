// What Unity documents of its engine, as far as the package uses it. docs.unity3d.com/ScriptReference is the source.
using System;

namespace AOT
{
    /// <summary>"Attribute used to annotate functions that will be called back from the unmanaged world." (MonoPInvokeCallbackAttribute)</summary>
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
}
