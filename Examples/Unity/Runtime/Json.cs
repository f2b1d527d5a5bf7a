using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Packs
{
    /// <summary>
    /// The JSON that the native library reads and writes. Unity's JsonUtility cannot tell a member that is missing from one that is 0, and writes no
    /// dictionaries. Objects are dictionaries, arrays are lists, and numbers are double.
    /// </summary>
    internal static class Json
    {
        internal static string Text(object value)
        {
            var text = new StringBuilder();
            Write(value, text);
            return text.ToString();
        }

        private static void Write(object value, StringBuilder text)
        {
            if (value is bool answer) text.Append(answer ? "true" : "false");
            else if (value is string characters) WriteString(characters, text);
            else if (value is Dictionary<string, object> members)
            {
                WriteList(members, '{', '}', text, member =>
                {
                    WriteString(member.Key, text);
                    text.Append(':');
                    Write(member.Value, text);
                });
            }
            else if (value is string[] items) WriteList(items, '[', ']', text, item => WriteString(item, text));
            else text.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        private static void WriteList<Item>(IEnumerable<Item> items, char first, char last, StringBuilder text, Action<Item> write)
        {
            text.Append(first);
            var isFirst = true;
            foreach (var item in items)
            {
                if (!isFirst) text.Append(',');
                isFirst = false;
                write(item);
            }
            text.Append(last);
        }

        private static void WriteString(string characters, StringBuilder text)
        {
            text.Append('"');
            foreach (var character in characters)
            {
                if (character == '"' || character == '\\') text.Append('\\').Append(character);
                else if (character < ' ') text.Append("\\u").Append(((int)character).ToString("x4", CultureInfo.InvariantCulture));
                else text.Append(character);
            }
            text.Append('"');
        }

        /// <summary>Reads what the library wrote, which is valid.</summary>
        internal static object Parse(string text)
        {
            var place = 0;
            return Value(text, ref place);
        }

        private static char Next(string text, ref int place)
        {
            while (char.IsWhiteSpace(text[place])) place++;
            return text[place];
        }

        private static object Value(string text, ref int place)
        {
            switch (Next(text, ref place))
            {
                case '{':
                    var members = new Dictionary<string, object>();
                    for (place++; Next(text, ref place) != '}';)
                    {
                        if (text[place] == ',') { place++; continue; }
                        var name = (string)Value(text, ref place);
                        if (Next(text, ref place) != ':') throw new FormatException("no colon in JSON");
                        place++;
                        members[name] = Value(text, ref place);
                    }
                    place++;
                    return members;
                case '[':
                    var items = new List<object>();
                    for (place++; Next(text, ref place) != ']';)
                    {
                        if (text[place] == ',') { place++; continue; }
                        items.Add(Value(text, ref place));
                    }
                    place++;
                    return items;
                case '"': return Characters(text, ref place);
                case 't': place += 4; return true;
                case 'f': place += 5; return false;
                case 'n': place += 4; return null;
                default:
                    var start = place;
                    while (place < text.Length && "+-.eE0123456789".IndexOf(text[place]) >= 0) place++;
                    return double.Parse(text.Substring(start, place - start), CultureInfo.InvariantCulture);
            }
        }

        private static string Characters(string text, ref int place)
        {
            var found = new StringBuilder();
            for (place++; text[place] != '"'; place++)
            {
                if (text[place] != '\\') { found.Append(text[place]); continue; }
                place++;
                switch (text[place])
                {
                    case 'n': found.Append('\n'); break;
                    case 't': found.Append('\t'); break;
                    case 'r': found.Append('\r'); break;
                    case 'b': found.Append('\b'); break;
                    case 'f': found.Append('\f'); break;
                    case 'u':
                        found.Append((char)int.Parse(text.Substring(place + 1, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture));
                        place += 4;
                        break;
                    default: found.Append(text[place]); break;
                }
            }
            place++;
            return found.ToString();
        }
    }
}
