using System;

namespace Packs
{
    /// <summary>What became of a call: the numbers of PackerStatus in packer.h. More may come: take an unknown one for a failure.</summary>
    public enum PackStatus
    {
        Done = 0,
        Failed = 1,
        NoKey = 10,
        WrongKey = 11,
        Damaged = 12,
        Truncated = 13,
        Untrusted = 14,
        LimitExceeded = 15,
        Usage = 64,
        BadInput = 65,
        Missing = 66,
        CannotWrite = 73,
        CannotRead = 74,
        Running = 75,
        Cancelled = 130,
    }

    /// <summary>Why a pack could not be read or fetched.</summary>
    public sealed class PackException : Exception
    {
        /// <summary>What to decide by.</summary>
        public PackStatus Status { get; }

        /// <summary>The stable identifier of the reason, such as <c>wrong-key</c>.</summary>
        public string Code { get; }

        /// <summary>What the failure is about, such as a path; null if it is about nothing in particular.</summary>
        public string Subject { get; }

        /// <summary>What can be done about it, for people; null if nothing is known.</summary>
        public string Advice { get; }

        internal PackException(PackStatus status, string code, string message, string subject, string advice, Exception inner = null)
            : base(message ?? $"the call failed with status {(int)status}", inner)
        {
            Status = status;
            Code = code;
            Subject = subject;
            Advice = advice;
        }
    }
}
